/** The linter of OpenAPI descriptions, run on files of its own. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REDOCLY = join(ROOT, 'test/node_modules/.bin/redocly')
const TIMEOUT_MS = 600_000

export interface Finding {
  isFine: boolean
  /** What the linter wrote. */
  output: string
}

/** Whether a description, as text, keeps all rules without a warning. */
export function lintDescription(text: string): Finding {
  const { isFine, output } = redocly(['lint', '--format=stylish'], [text])
  return { isFine: isFine && !/You have \d+ warning/.test(output), output }
}

/** Whether programs written for the description `before` still work with the description `after`. */
export function compareDescriptions(before: string, after: string): Finding {
  return redocly(['diff'], [before, after])
}

/** @throws Error when the linter cannot be run or does not end */
function redocly(command: string[], texts: string[]): Finding {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-openapi-'))
  try {
    const files = texts.map((text, i) => {
      const file = join(folder, `openapi-${i}.json`)
      writeFileSync(file, text)
      return file
    })
    const { status, stdout, stderr, error } = spawnSync(process.execPath, [REDOCLY, ...command, ...files], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
    if (error !== undefined || status === null) {
      throw new Error(`redocly ${command[0]} did not end`, { cause: error })
    }
    return { isFine: status === 0, output: `${stdout}\n${stderr}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
