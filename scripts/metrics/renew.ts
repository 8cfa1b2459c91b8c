/** `npm run metrics`: makes `docs/metrics.md` anew. */
import { writeFileSync } from 'node:fs'
import { METRICS_PAGE, metricsPage } from './page.ts'

writeFileSync(METRICS_PAGE, metricsPage())
