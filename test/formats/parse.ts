/** Readers of CSV and of nested JSON that share no code with the program. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../oracle/oracle.ts'

/** The fields of each line (RFC 4180): every line ends with CRLF. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = []
  let at = 0
  while (at < text.length) {
    const fields: string[] = []
    for (;;) {
      let field = ''
      if (text[at] === '"') {
        for (at++; ; at++) {
          if (text[at] !== '"') {
            assert.ok(at < text.length, 'a field without its last quote')
            field += text[at]
          } else if (text[at + 1] === '"') {
            field += '"'
            at++
          } else break
        }
        at++
      } else {
        const end = /[,\r]/g
        end.lastIndex = at
        const found = end.exec(text)
        assert.ok(found !== null, 'a line without its end')
        field = text.slice(at, found.index)
        assert.ok(!/["\n]/.test(field), `a field that should be quoted: ${field}`)
        at = found.index
      }
      fields.push(field)
      if (text[at] !== ',') break
      at++
    }
    assert.equal(text.slice(at, at + 2), '\r\n', 'a line does not end with CRLF')
    at += 2
    lines.push(fields)
  }
  return lines
}

/** The members of an object under names with dots; a nested object that is null has none. */
export function flat(value: JsonObject, before = ''): Map<string, Json> {
  const members = new Map<string, Json>()
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
      for (const [inner, json] of flat(member, `${before}${name}.`)) members.set(inner, json)
    } else members.set(before + name, member)
  }
  return members
}

export function fieldOf(value: Json | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value
}
