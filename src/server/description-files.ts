/** `openapi.json` below the base path for programs, and `/llms.txt` for language models. */
import type { Declared } from '../operation/operation.ts'
import type { StaticFile } from './static-files.ts'
import { openApiDocument, type OpenApiDocument } from '../openapi/document.ts'
import { pascal } from '../openapi/responses.ts'
import type { Schema } from '../openapi/schemas.ts'

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

/** One plain text with all that a language model needs to write calls, in the form of llmstxt.org. */
function llmsText({ info, paths, servers: [{ url }], components }: OpenApiDocument): string {
  const operations = Object.entries(paths).map(([path, { get }]) => {
    const parameters = get.parameters.flatMap(({ name, in: location, required, description }) =>
      location === 'query'
        ? [`- \`${String(name)}\`${required === true ? ' (required)' : ''}: ${String(description)}`]
        : [],
    )
    const lines = [`### GET ${url}${path}`, '', `${String(get.summary)}. ${String(get.description)}`]
    // A stream has no answer schema.
    const answer: Schema | undefined = components.schemas[`${pascal(get.operationId)}Answer`]
    const data = (answer?.properties as { data?: Schema } | undefined)?.data
    const fields = data === undefined ? [] : fieldLines(data, 'data')
    return [
      ...lines,
      ...(parameters.length === 0 ? [] : ['', 'Parameters:', '', ...parameters]),
      ...(fields.length === 0 ? [] : ['', 'Answer:', '', ...fields]),
    ].join('\n')
  })
  const objects = Object.entries(components.schemas).flatMap(([name, schema]) => {
    const fields = name.endsWith('Answer') && name !== 'ErrorAnswer' ? [] : fieldLines(schema, '')
    return fields.length === 0 ? [] : [[`### ${name}`, '', ...fields].join('\n')]
  })
  return `# ${info.title}

> ${info.summary}

- [OpenAPI 3.1 description](${url}/openapi.json): every field with its unit, every error, with examples
- [Documentation](/docs): the same to read, with every operation to try

${info.description.replaceAll(/^(#+) /gm, '#$1 ')}

## Operations

${operations.join('\n\n')}

## Fields

${objects.join('\n\n')}
`
}

/** A line for each member of an object, and of what is in it without a name of its own. */
function fieldLines(schema: Schema, path: string): string[] {
  const { properties, items, oneOf, anyOf } = schema as {
    properties?: { [name: string]: Schema }
    items?: Schema
    oneOf?: Schema[]
    anyOf?: Schema[]
  }
  if (items !== undefined) return fieldLines(items, `${path}[]`)
  const either = oneOf ?? anyOf
  if (either !== undefined) return [...new Set(either.flatMap((one) => fieldLines(one, path)))]
  return Object.entries(properties ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    const text = typeof field.description === 'string' ? `: ${field.description}` : ''
    const hasUnit = typeof field['x-unit'] === 'string' && !text.includes(`in ${field['x-unit']}`)
    const unit = hasUnit ? `, in ${String(field['x-unit'])}` : ''
    return [`- \`${at}\` (${typeText(field)}${unit})${text}`, ...fieldLines(field, at)]
  })
}

/** `list of Buoy`, `number or null`. */
function typeText(schema: Schema): string {
  const { $ref, type, items, oneOf, anyOf } = schema as {
    $ref?: string
    type?: string | string[]
    items?: Schema
    oneOf?: Schema[]
    anyOf?: Schema[]
  }
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (items !== undefined) return `list of ${typeText(items)}`
  const either = oneOf ?? anyOf
  if (either !== undefined) return [...new Set(either.map((one) => typeText(one)))].join(' or ')
  if (type !== undefined) return [type].flat().join(' or ')
  return 'const' in schema ? JSON.stringify(schema.const) : 'value'
}
