/**
 * Whether a typed value is as the JSON schema of its parameter says, for the few keywords that parameters use.
 * Our own, because a schema compiler takes 4 MiB of each worker, and compiling some of its start.
 */

/** A JSON schema of these keywords. */
interface ValueSchema {
  readonly type: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly items?: object
  readonly maxItems?: number
  readonly properties?: { readonly [name: string]: object }
}

export type Check = (value: unknown) => boolean

const KEYWORDS: { readonly [type: string]: readonly string[] } = {
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
  boolean: [],
  string: ['minLength', 'maxLength', 'pattern', 'enum'],
  array: ['items', 'maxItems'],
  object: ['properties'],
}

/** @throws TypeError for a keyword that it does not know: nothing that is declared goes unchecked */
export function checkOf(schema: object): Check {
  const { type, ...rest } = schema as ValueSchema
  const known = KEYWORDS[type]
  const unknown = Object.keys(rest).find((keyword) => !known?.includes(keyword))
  if (known === undefined || unknown !== undefined)
    throw new TypeError(`no check of ${unknown ?? 'the type'} for values of type ${type}`)
  if (type === 'string') return textCheck(rest)
  if (type === 'array') return arrayCheck(rest)
  if (type === 'object') return objectCheck(rest)
  return type === 'boolean' ? (value) => typeof value === 'boolean' : numberCheck(type === 'integer', rest)
}

type Keywords = Omit<ValueSchema, 'type'>

/** Without limits it is any number but the infinite ones. */
function numberCheck(
  isWhole: boolean,
  { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE }: Keywords,
): Check {
  if (!isWhole) return (value) => typeof value === 'number' && value >= minimum && value <= maximum
  return (value) => Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
}

function textCheck({ minLength = 0, maxLength = Infinity, pattern, enum: words }: Keywords): Check {
  const expression = pattern === undefined ? null : new RegExp(pattern, 'u')
  return (value) => {
    if (typeof value !== 'string' || (words !== undefined && !words.includes(value))) return false
    // Code points are at most as many as units, and at least half as many.
    const isLength =
      value.length >= 2 * minLength && value.length <= maxLength
        ? true
        : isWithin(Array.from(value).length, minLength, maxLength)
    return isLength && (expression === null || expression.test(value))
  }
}

const isWithin = (count: number, least: number, most: number): boolean => count >= least && count <= most

function arrayCheck({ items = {}, maxItems = Infinity }: Keywords): Check {
  const check = checkOf(items)
  return (value) => {
    if (!Array.isArray(value) || value.length > maxItems) return false
    for (let i = 0; i < value.length; i++) if (!check(value[i])) return false
    return true
  }
}

function objectCheck({ properties = {} }: Keywords): Check {
  const names = Object.keys(properties)
  const checks = Object.values(properties).map(checkOf)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    for (let i = 0; i < names.length; i++) {
      const member = (value as { [name: string]: unknown })[names[i]]
      if (member !== undefined && !checks[i](member)) return false
    }
    return true
  }
}
