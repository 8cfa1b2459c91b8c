/** Settings of the log, for all commands that go on for a while. */
import { parseAccessRules, type AccessRules } from '../../logs/access-rules.ts'
import { FORMATS, LEVELS, type Format, type Level } from '../../logs/log.ts'
import type { Setting } from './setting.ts'
import { last, oneOf } from './values.ts'

export const LOG_SETTINGS = {
  'log-format': {
    placeholder: 'FORMAT',
    help: 'text, or json: every line on both outputs is one JSON object',
    default: 'text',
    parse: oneOf(FORMATS),
  } satisfies Setting<Format>,
  'log-level': {
    placeholder: 'LEVEL',
    help: `the least serious lines to write: ${LEVELS.join(', ')}; error writes only errors, debug everything`,
    default: 'info',
    parse: oneOf(LEVELS),
  } satisfies Setting<Level>,
} as const

export const ACCESS_LOG_SETTINGS = {
  'access-log': {
    placeholder: 'RULES',
    help: 'requests to write a line about, such as errors,slow=50ms,1%; 100% for all, none by default',
    default: '',
    parse: (texts) => parseAccessRules(last(texts)),
  } satisfies Setting<AccessRules | null>,
} as const
