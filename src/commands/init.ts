/** `init`: writes a configuration to begin with, every member explained. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Setting, text } from '../server/setting.ts'
import { BuildError } from '../system/build-error.ts'
import { command } from './command.ts'
import { packageFolder, print } from './surroundings.ts'

const FIRST = join(packageFolder, 'data', 'examples', 'first.config.json')

const INIT_SETTINGS = {
  config: {
    placeholder: 'FILE',
    help: 'the file to write',
    default: 'groundswell.config.json',
    parse: text,
  } satisfies Setting<string>,
} as const

export const init = command({
  settings: INIT_SETTINGS,
  run: async ({ config }) => {
    try {
      writeFileSync(config, readFileSync(FIRST), { flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new BuildError(`${config}: exists already and is not changed; name another file with --config`)
    }
    print(`${config} is written. It loads the buoys of NDBC, without a key. Then:`)
    print(`  groundswell build --config ${config} --dry-run   shows what would be fetched`)
    print(
      `  groundswell run --config ${config}               fetches, builds, serves, and again every half hour`,
    )
    print(`  groundswell doctor --config ${config}            checks that everything is ready`)
  },
})
