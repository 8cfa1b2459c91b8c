/**
 * Objects of a JSON schema (draft 7) with their types, for the configuration, the options of sources and the
 * tools of `mcp`. The types are TypeBox's. Its code is not loaded: 373 files, which take every build and
 * reader process a quarter of a second.
 */
import type { Static, TObjectOptions, TProperties, TSchema, Type as TypeBox } from 'typebox'

const optional = new WeakSet<object>()
const typed =
  (type: string) =>
  (options: object = {}) => ({ type, ...options })

/** These make the schemas that TypeBox makes. */
const BUILDERS = {
  Array: (items: object, options: object = {}) => ({ type: 'array', items, ...options }),
  Boolean: typed('boolean'),
  Enum: (values: readonly string[], options: object = {}) => ({ enum: values, ...options }),
  Integer: typed('integer'),
  Literal: (value: boolean) => ({ type: typeof value, const: value }),
  Null: typed('null'),
  Number: typed('number'),
  Object(properties: { readonly [name: string]: object }, options: object = {}) {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional(schema: object) {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
  String: typed('string'),
  Union: (anyOf: readonly object[]) => ({ anyOf }),
  Unsafe: (schema: object) => schema,
}
export const Type = BUILDERS as unknown as Pick<typeof TypeBox, keyof typeof BUILDERS>

export function object<Members extends TProperties>(members: Members, more: TObjectOptions = {}) {
  return Type.Object(members, { additionalProperties: false, ...more })
}

export function named<Value extends TSchema>(value: Value, more: TObjectOptions = {}) {
  return Type.Unsafe<{ [name: string]: Static<Value> }>({
    type: 'object',
    additionalProperties: value,
    ...more,
  })
}

/** A number or a text: what marks a missing value, or a good one. */
export const scalar = (maxLength: number) =>
  Type.Unsafe<number | string>({ type: ['number', 'string'], maxLength })
