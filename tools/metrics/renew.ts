/** `npm run metrics`: rewrites `docs/metrics.md` and `deploy/grafana-dashboard.json`. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DASHBOARD_FILE, dashboardText } from './dashboard.ts'
import { METRICS_PAGE, metricsPage } from './page.ts'

const OXFMT = fileURLToPath(new URL('../../test/node_modules/.bin/oxfmt', import.meta.url))

writeFileSync(METRICS_PAGE, metricsPage())
writeFileSync(DASHBOARD_FILE, dashboardText())
execFileSync(process.execPath, [OXFMT, DASHBOARD_FILE], { stdio: 'pipe' })
