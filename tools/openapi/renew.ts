/**
 * `npm run openapi`: remakes what is committed and made from the program. Refuses a change that breaks the
 * programs of users, unless its argument is `--breaking`; then nothing is written.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ExampleAnswers } from '../../src/openapi/operation-texts.ts'
import { startServer, type Live } from '../live_server.ts'
import { exampleAnswers, EXAMPLES_SOURCE, type Get } from './examples.ts'
import { DESCRIPTION_FILE, descriptionText, EXAMPLES_FILE } from './made.ts'
import { compareDescriptions, lintDescription } from './redocly.ts'

const OXFMT = fileURLToPath(new URL('../../test/node_modules/.bin/oxfmt', import.meta.url))

const HOW_TO_BREAK = 'If that is meant: npm run openapi -- --breaking'

const examples = await askForExamples()
const description = descriptionText(examples)
const fault = faultOf(description)
if (fault === null) {
  writeFileSync(EXAMPLES_FILE, JSON.stringify(examples))
  execFileSync(process.execPath, [OXFMT, EXAMPLES_FILE], { stdio: 'pipe' })
  writeFileSync(DESCRIPTION_FILE, description)
} else {
  process.stderr.write(`${fault}\n`)
  process.exitCode = 1
}

async function askForExamples(): Promise<ExampleAnswers> {
  let end = (): Promise<void> => Promise.resolve()
  try {
    const live = await startServer({ sourceArgs: EXAMPLES_SOURCE }, (theEnd) => (end = theEnd))
    return await exampleAnswers(live, getFrom(live))
  } finally {
    await end()
  }
}

function getFrom({ base }: Live): Get {
  return async (path, key, headers) => {
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` }
    const answer = await fetch(base + path, { headers: { ...headers, ...authorization } })
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
  }
}

/** Why a description must not be taken, or null. */
function faultOf(text: string): string | null {
  const lint = lintDescription(text)
  if (!lint.isFine) return `the description breaks rules of OpenAPI; nothing is written\n${lint.output}`
  if (process.argv.includes('--breaking') || !existsSync(DESCRIPTION_FILE)) return null
  const { isFine, output } = compareDescriptions(readFileSync(DESCRIPTION_FILE, 'utf8'), text)
  return isFine
    ? null
    : `the change of the description breaks clients; nothing is written\n${output}\n${HOW_TO_BREAK}`
}
