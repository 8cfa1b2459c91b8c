/** `report`: prints the report of the newest build. */
import { newestReport, reportLines } from '../builder/report-files.ts'
import { flag } from '../server/setting.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

export const report = command({
  takes: '<DIR>',
  settings: { json: flag('print the JSON document') },
  run: async ({ json }, [dir]) => {
    const document = newestReport(dir)
    if (json) print(JSON.stringify(document))
    else for (const line of reportLines(document)) print(line)
  },
})
