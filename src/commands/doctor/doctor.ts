/**
 * `doctor`: looks at all that `run` needs, with the same options, and advises what to do. It changes nothing.
 * Its exit code is 0 unless a start is impossible.
 */
import { settingsWarnings } from '../../server/serve-settings.ts'
import { flag, type ConfigOf } from '../../server/setting.ts'
import { expectSchedule, RUN_SETTINGS } from '../build-settings.ts'
import { BuildError } from '../../system/build-error.ts'
import { counted } from '../../system/text.ts'
import { command } from '../command.ts'
import { clock, print } from '../surroundings.ts'
import { advise, type Finding, type Level } from './finding.ts'
import { engineFinding, filesFinding, glibcFinding, memoryFinding, nodeFinding } from './machine.ts'
import {
  clockFinding,
  dataFindings,
  diskFinding,
  keysFinding,
  portFindings,
  snapshotFindings,
} from './service.ts'
import { sourceFindings } from './sources.ts'

const WIDTH_OF_CHECK = 20
const WORDS: { readonly [level in Level]: string } = { ok: 'ok', advice: 'warning', impossible: 'FAULT' }

/** `doctor` looks at what `run` would do with the same options. */
export const DOCTOR_SETTINGS = {
  ...RUN_SETTINGS,
  json: flag('print the findings as JSON'),
} as const

export const doctor = command({
  settings: DOCTOR_SETTINGS,
  run: async (config) => {
    expectSchedule(config)
    const findings = await examine(config)
    const faults = findings.filter(({ level }) => level === 'impossible')
    if (config.json) print(JSON.stringify({ can_start: faults.length === 0, findings }))
    else for (const line of findings.flatMap((finding) => linesOf(finding))) print(line)
    if (faults.length > 0) {
      throw new BuildError(
        `not ready to start: ${faults.map(({ check, found }) => `${check}: ${found}`).join('; ')}`,
      )
    }
    if (!config.json) print(summaryOf(findings))
  },
})

/** All findings, in the order in which they are shown. */
export async function examine(config: ConfigOf<typeof DOCTOR_SETTINGS>): Promise<Finding[]> {
  const now = clock()
  const { findings: snapshot, bytes, manifest } = await snapshotFindings(config, now)
  const sources = await sourceFindings(config)
  return [
    nodeFinding(process.versions.node, now),
    engineFinding(config),
    glibcFinding(),
    filesFinding(config),
    memoryFinding(config, bytes),
    clockFinding(now, manifest, sources.clocks),
    ...dataFindings(config, manifest !== null),
    diskFinding(config, bytes),
    ...(await portFindings(config)),
    keysFinding(config),
    ...settingsWarnings(config).map(({ found, advice }) => advise('settings', found, advice)),
    ...snapshot,
    ...sources.findings,
  ]
}

function linesOf({ check, level, found, advice }: Finding): string[] {
  const head = `${WORDS[level].padEnd(7)} ${check.padEnd(WIDTH_OF_CHECK)} ${found}`.trimEnd()
  return advice === null ? [head] : [head, `${' '.repeat(8 + WIDTH_OF_CHECK)} → ${advice}`]
}

function summaryOf(findings: readonly Finding[]): string {
  const count = findings.filter(({ level }) => level === 'advice').length
  return count === 0 ? 'ready to start' : `ready to start (${counted(count, 'warning')})`
}
