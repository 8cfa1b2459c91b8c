/** What the doctor asks of the sources that a build would read. */
import { existsSync } from 'node:fs'
import type { ConfigOf } from '../../server/setting.ts'
import type { RUN_SETTINGS } from '../build-settings.ts'
import type { Configuration } from '../../sources/configuration.ts'
import { openSource } from '../../sources/kinds.ts'
import { environment } from '../surroundings.ts'
import { advise, impossible, ok, reasonOf, type Finding } from './finding.ts'

type RunConfig = ConfigOf<typeof RUN_SETTINGS>

/** A person waits for the answers. */
const PATIENCE_MS = 8000

export interface SourceFindings {
  findings: Finding[]
  /** Clocks of the hosts that answered. */
  clocks: { whose: string; time: number }[]
}

/** Hosts are asked over the network, each once. */
export async function sourceFindings({ source, config }: RunConfig): Promise<SourceFindings> {
  const findings = source.map(({ kind, argument }) => commandLineFinding(kind, argument))
  if (config === null) {
    const demo = ok('sources', 'none is named: the demo, whose data are made up')
    return { findings: findings.length === 0 ? [demo] : findings, clocks: [] }
  }
  let configuration: Configuration
  try {
    const { readConfiguration } = await import('../../sources/configuration.ts')
    configuration = readConfiguration(config, environment)
  } catch (error) {
    findings.push(
      impossible('sources', reasonOf(error), 'correct the file; docs/configuration.md documents it'),
    )
    return { findings, clocks: [] }
  }
  const { sources } = configuration
  const urls = sources.flatMap(({ downloads }) => downloads.map(({ url }) => url.replaceAll(/[{}]/g, '')))
  const origins = new Set(urls.map((url) => new URL(url).origin))
  const hosts = await Promise.all([...origins].map((origin) => hostFinding(new URL(origin))))
  return {
    findings: [...findings, ...folderFindings(configuration), ...hosts.map(({ finding }) => finding)],
    clocks: hosts.flatMap(({ host: whose, time }) => (time === null ? [] : [{ whose, time }])),
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
        'put its files there; until then the source gives nothing',
      ),
    ),
  ]
}

/**
 * Asks a host that the operator wrote down for the head of its first page. No redirect is followed, and no
 * key is sent. The host's time is epoch seconds, null where it gives none.
 */
async function hostFinding(url: URL): Promise<{ finding: Finding; host: string; time: number | null }> {
  const { RequestFault, WebClient } = await import('../../snapshot/store/web-request.ts')
  const { host } = url
  const limits = { connectMs: PATIENCE_MS, answerMs: PATIENCE_MS, stallMs: PATIENCE_MS }
  const client = new WebClient({ ...limits, slowestBytesPerSecond: 0 })
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const agent = { 'user-agent': 'groundswell doctor' }
    const { headers } = await client.ask({ url, method: 'HEAD', headers: agent, signal })
    const time = Date.parse(headers.date ?? '') / 1000
    return { finding: ok('network', `${host} answers`), host, time: Number.isNaN(time) ? null : time }
  } catch (error) {
    const fault = error instanceof RequestFault ? error.message : `no answer within ${PATIENCE_MS / 1000} s`
    const finding = advise(
      'network',
      `${host} cannot be reached: ${fault}`,
      'look at name resolution, firewall and proxy of this machine; until then its source gives nothing new',
    )
    return { finding, host, time: null }
  } finally {
    client.close()
  }
}
