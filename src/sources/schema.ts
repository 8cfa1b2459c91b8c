/** Objects of a JSON schema (draft 7) with their types, for the configuration and the options of sources. */
import { type Static, type TObjectOptions, type TProperties, type TSchema, Type } from 'typebox'

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
