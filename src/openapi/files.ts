/**
 * The description of the service as files that it serves: for programs `openapi.json` below the base path,
 * for language models `/llms.txt`.
 */
import type { Operation } from '../answers/operation.ts'
import type { StaticFile } from '../serving/site.ts'
import { openApiDocument, type OpenApiDocument } from './document.ts'

const ENCODER = new TextEncoder()

/** `basePath` as in `/v2`. Needs no key and is made once, at start. */
export function descriptionFiles(operations: readonly Operation[], basePath: string): StaticFile[] {
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
 * One plain text that holds all a language model needs to write calls: the guides, and each operation with
 * its parameters. In the form of llmstxt.org: a title, a summary in a quotation, sections of links and text.
 */
function llmsText({ info, paths, servers: [{ url }] }: OpenApiDocument): string {
  const operations = Object.entries(paths).map(([path, { get }]) => {
    const parameters = get.parameters.flatMap(({ name, in: place, required, description }) =>
      place === 'query'
        ? [`- \`${String(name)}\`${required === true ? ' (required)' : ''}: ${String(description)}`]
        : [],
    )
    const lines = [`### GET ${url}${path}`, '', `${String(get.summary)}. ${String(get.description)}`]
    return [...lines, ...(parameters.length === 0 ? [] : ['', ...parameters])].join('\n')
  })
  return `# ${info.title}

> ${info.summary}

- [OpenAPI 3.1 description](${url}/openapi.json): every field with its unit, every error, examples
- [Documentation](/docs): the same to read and to try

${info.description.replaceAll(/^(#+) /gm, '#$1 ')}

## Operations

${operations.join('\n\n')}
`
}
