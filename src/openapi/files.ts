/**
 * The files that describe the service: `openapi.json` below the base path for programs, `/llms.txt` for
 * language models.
 */
import type { Declared } from '../answers/operation.ts'
import type { StaticFile } from '../serving/site.ts'
import { openApiDocument, type OpenApiDocument } from './document.ts'

const ENCODER = new TextEncoder()

/** `basePath` as in `/v2`. The files need no key and are made once, when the server starts. */
export function descriptionFiles(operations: readonly Declared[], basePath: string): StaticFile[] {
  const document = openApiDocument(operations, basePath)
  return [
    {
      path: `${basePath}/openapi.json`,
      type: 'application/json',
      bytes: ENCODER.encode(JSON.stringify(document)),
      cache: 'revalidate',
    },
    {
      path: '/llms.txt',
      type: 'text/plain; charset=utf-8',
      bytes: ENCODER.encode(llmsText(document)),
      cache: 'revalidate',
    },
  ]
}

/**
 * One plain text with everything that a language model needs to write calls: the guides, and each operation
 * with its parameters. It has the form of llmstxt.org: a title, a summary in a quotation, sections of links
 * and text.
 */
function llmsText({ info, paths, servers: [{ url }] }: OpenApiDocument): string {
  const operations = Object.entries(paths).map(([path, { get }]) => {
    const parameters = get.parameters.flatMap(({ name, in: location, required, description }) =>
      location === 'query'
        ? [`- \`${String(name)}\`${required === true ? ' (required)' : ''}: ${String(description)}`]
        : [],
    )
    const lines = [`### GET ${url}${path}`, '', `${String(get.summary)}. ${String(get.description)}`]
    return [...lines, ...(parameters.length === 0 ? [] : ['', ...parameters])].join('\n')
  })
  return `# ${info.title}

> ${info.summary}

- [OpenAPI 3.1 description](${url}/openapi.json): every field with its unit, every error, with examples
- [Documentation](/docs): the same to read, with every operation to try

${info.description.replaceAll(/^(#+) /gm, '#$1 ')}

## Operations

${operations.join('\n\n')}
`
}
