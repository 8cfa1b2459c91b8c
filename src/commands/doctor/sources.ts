/** What the doctor asks of the sources that a build would read. */
import { existsSync } from 'node:fs'
import type { HostAnswer } from '../../fetch/reach.ts'
import type { ConfigOf } from '../../process/settings/setting.ts'
import type { RUN_SETTINGS } from '../build-settings.ts'
import type { Configuration } from '../../sources/configuration.ts'
import { openSource } from '../../sources/kinds.ts'
import { environment } from '../surroundings.ts'
import { advise, impossible, ok, reasonOf, type Finding } from './finding.ts'

type RunConfig = ConfigOf<typeof RUN_SETTINGS>

export interface SourceFindings {
  findings: Finding[]
  /** Clocks of the hosts that answered. */
  clocks: { whose: string; time: number }[]
}

/** Hosts are asked over the network, each once. */
export async function sourceFindings({ source, config }: RunConfig): Promise<SourceFindings> {
  const findings = source.map(({ kind, argument }) => commandLineFinding(kind, argument))
  if (config === null) {
    const demo = ok('sources', 'none are named: the demo, which is made up')
    return { findings: findings.length === 0 ? [demo] : findings, clocks: [] }
  }
  let configuration: Configuration
  try {
    const { readConfiguration } = await import('../../sources/configuration.ts')
    configuration = readConfiguration(config, environment)
  } catch (error) {
    findings.push(impossible('sources', reasonOf(error), 'mend the file; docs/sources.md documents it'))
    return { findings, clocks: [] }
  }
  const { reachHosts } = await import('../../fetch/reach.ts')
  const hosts = await reachHosts(configuration)
  return {
    findings: [...findings, ...folderFindings(configuration), ...hosts.map((each) => hostFinding(each))],
    clocks: hosts.flatMap(({ host, time }) => (time === null ? [] : [{ whose: host, time }])),
  }
}

function commandLineFinding(kind: string, argument: string): Finding {
  const check = `source ${kind}`
  try {
    openSource(kind, argument)
  } catch (error) {
    return impossible(check, reasonOf(error), 'see groundswell build --help')
  }
  if (argument === '' || kind === 'demo' || argument === 'database' || existsSync(argument))
    return ok(check, argument)
  return impossible(
    check,
    `${argument} does not exist`,
    'a build with this --source fails: name another folder',
  )
}

/** Folders of sources that fetch nothing have to be there. */
function folderFindings({ sources }: Configuration): Finding[] {
  const missing = sources.filter(
    ({ folder, downloads }) => folder !== '' && downloads.length === 0 && !existsSync(folder),
  )
  const found = sources.map(({ name, kind }) => `${name} (${kind})`).join(', ')
  return [
    ok('sources', found),
    ...missing.map(({ name, folder }) =>
      advise(
        'sources',
        `${name}: ${folder} does not exist`,
        'put its files there; until then the source is silent',
      ),
    ),
  ]
}

function hostFinding({ host, outcome }: HostAnswer): Finding {
  if ('status' in outcome) return ok('network', `${host} answers`)
  return advise(
    'network',
    `${host} cannot be reached: ${outcome.fault}`,
    'look at name resolution, firewall and proxy of this machine; its source is silent until then',
  )
}
