/** `npm run metrics`: makes `docs/metrics.md` and `deploy/grafana-dashboard.json` anew. */
import { writeFileSync } from 'node:fs'
import { DASHBOARD_FILE, dashboardText } from './dashboard.ts'
import { METRICS_PAGE, metricsPage } from './page.ts'

writeFileSync(METRICS_PAGE, metricsPage())
writeFileSync(DASHBOARD_FILE, dashboardText())
