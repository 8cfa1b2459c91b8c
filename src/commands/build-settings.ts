/** Settings of the commands that build snapshots: `build`, `run` and, for some, `publish`. */
import { DEFAULT_KEPT } from '../snapshot/retained.ts'
import { DEFAULT_ALLOWED_LOSS, DEFAULT_SPECTRA_DAYS } from '../builder/build-base.ts'
import { LOG_SETTINGS, data, snapshots, SERVE_SETTINGS } from '../server/serve-settings.ts'
import {
  flag,
  optional,
  orNull,
  setting,
  type Setting,
  duration,
  last,
  LONGEST_WAIT_DAYS,
  share,
  wholeNumber,
} from '../server/setting.ts'
import { parseTimestamp } from '../sea/time.ts'

/** For data that are built once a year; the schedule looks at the clock every minute. */
const MOST_EVERY_DAYS = 366
const MOST_JITTER_DAYS = 1

const source: Setting<{ kind: string; argument: string }[]> = {
  placeholder: 'KIND:PATH',
  help: 'where rows come from; may be given several times, and together with --config',
  default: '',
  multiple: true,
  parse: (texts) =>
    texts.flatMap((entry) => {
      if (entry === '') return []
      const colon = entry.indexOf(':')
      return colon === -1
        ? { kind: entry, argument: '' }
        : { kind: entry.slice(0, colon), argument: entry.slice(colon + 1) }
    }),
}

const configuration = optional('FILE', 'configuration of sources, such as groundswell.config.json')

/** Other places for a folder's snapshots. */
export const PUBLISH_SETTINGS = {
  export: optional('DIR', 'folder that each snapshot is exported to as Parquet files'),
  publish: optional('URL', 'bucket to publish to as well, s3://BUCKET/PREFIX; one builder publishes there'),
  'single-writer': flag(
    'no other builder publishes there: do without conditional writes, which some stores ignore',
  ),
} as const

export const BUILD_SETTINGS = {
  source,
  config: configuration,
  data,
  out: { ...snapshots, help: 'folder to publish the snapshot in' },
  'as-of': setting(
    'TIME',
    "the data's time: later rows are left out (default: the newest reading of the input; demo: the last half hour)",
    '',
    orNull((texts) => {
      const time = parseTimestamp(last(texts))
      if (time === null || time.epoch < 0 || time.epoch >= 2 ** 32) {
        throw new Error('an ISO 8601 time such as 2026-03-27T09:00:00Z')
      }
      return Math.floor(time.epoch)
    }),
  ),
  'max-bad': setting(
    'SHARE',
    "share of a file's lines that may be malformed before it is left out",
    '10%',
    share,
  ),
  'allow-loss': setting(
    'SHARE',
    'share of what the folder has of any kind (buoys, readings, passes, rows of forecast, …) that a new snapshot may lose',
    `${DEFAULT_ALLOWED_LOSS * 100}%`,
    share,
  ),
  'dry-run': flag('show what would be fetched and built, and do neither'),
  fresh: flag("start over: of the folder's snapshot only ids and slugs are kept"),
  keep: setting(
    'N',
    'snapshots to keep for rollback; the next build removes older ones, except pinned ones',
    String(DEFAULT_KEPT),
    wholeNumber(1, 10000),
  ),
  'keep-spectra': setting(
    'TIME',
    "how long before a buoy's newest wave spectrum its others are kept, in days; all to keep every one",
    `${DEFAULT_SPECTRA_DAYS}d`,
    keptSpectra,
  ),
  ...LOG_SETTINGS,
  ...PUBLISH_SETTINGS,
} as const

/** Days of `45d`; Infinity of `all`. */
function keptSpectra(texts: readonly string[]): number {
  const word = last(texts)
  if (word === 'all') return Infinity
  const [, days] = /^([1-9][0-9]{0,4})d$/.exec(word) ?? []
  if (days === undefined) throw new Error('whole days from 1d to 99999d, or all')
  return Number(days)
}

export const RUN_SETTINGS = {
  ...SERVE_SETTINGS,
  source: { ...source, help: `${source.help} (demo where neither is given)` },
  config: configuration,
  'max-bad': BUILD_SETTINGS['max-bad'],
  'allow-loss': BUILD_SETTINGS['allow-loss'],
  keep: BUILD_SETTINGS.keep,
  'keep-spectra': BUILD_SETTINGS['keep-spectra'],
  every: setting(
    'TIME',
    'time between builds, aligned to the clock; 0 to build only when there is no snapshot',
    '30m',
    duration(MOST_EVERY_DAYS, true),
  ),
  jitter: setting(
    'TIME',
    'longest random delay of each scheduled build; no more than --every',
    '0',
    duration(MOST_JITTER_DAYS, true),
  ),
  'build-timeout': setting(
    'TIME',
    'how long a build may take before it is ended and counts as failed',
    '2h',
    duration(LONGEST_WAIT_DAYS),
  ),
  ...PUBLISH_SETTINGS,
} as const
