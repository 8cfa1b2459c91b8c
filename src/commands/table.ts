/** The commands by their names, in the order of `--help`. */
import { build } from './build.ts'
import { check } from './check.ts'
import type { Command, Service } from './command.ts'
import { diff } from './diff.ts'
import { doctor } from './doctor/doctor.ts'
import { exportCommand } from './export.ts'
import { health } from './health.ts'
import { init } from './init.ts'
import { inspect } from './inspect.ts'
import { KEYS_COMMANDS } from './keys.ts'
import { list } from './list.ts'
import { pin, unpin } from './pin.ts'
import { publish } from './publishing.ts'
import { report } from './report.ts'
import { resume, rollback } from './rollback.ts'
import { run } from './run.ts'
import { serve } from './serve.ts'

export const COMMANDS: { readonly [name: string]: Command | Service } = {
  build,
  publish,
  serve,
  run,
  init,
  doctor,
  health,
  inspect,
  check,
  report,
  list,
  diff,
  export: exportCommand,
  pin,
  unpin,
  rollback,
  resume,
  ...KEYS_COMMANDS,
}
