/** What is committed and made from the program: the examples and the description. */
import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../../src/openapi/document.ts'
import type { ExampleAnswers } from '../../src/openapi/operation-texts.ts'
import { ROUTED } from '../../src/routes.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

export const EXAMPLES_FILE = at('src/openapi/examples.json')
export const DESCRIPTION_FILE = at('clients/openapi.json')

/** The text of `clients/openapi.json`. */
export function descriptionText(examples?: ExampleAnswers): string {
  return `${JSON.stringify(openApiDocument(ROUTED, '/v2', examples), null, 2)}\n`
}
