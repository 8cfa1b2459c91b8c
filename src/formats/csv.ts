/**
 * CSV by RFC 4180: lines end with CRLF, the first holds the names of the columns as in JSON, and with `units`
 * the second their units. No value is an empty field.
 */
import type { JsonWriter } from '../answers/json.ts'
import type { Column } from '../answers/table.ts'
import { csvText } from '../bulk/csv.ts'
import { cellBytes, csvCell } from './cells.ts'
import type { RowForm } from './rows.ts'

/** Little-endian. */
const CRLF = 0x0a0d
const END_BYTES = 8

export function csvForm(columns: readonly Column[], withUnits: boolean): RowForm {
  const cells = columns.map(csvCell)
  const line = (texts: readonly string[]): string => `${texts.map(csvText).join(',')}\r\n`
  return {
    rowBytes: columns.reduce((sum, column) => sum + cellBytes(column) + 1, END_BYTES),
    begin(writer) {
      writer.text(line(columns.map(({ name }) => name)))
      if (withUnits) writer.text(line(columns.map(({ unit }) => unit)))
    },
    row(writer: JsonWriter, row: number) {
      const { at } = writer
      for (let i = 0; i < cells.length; i++) cells[i](writer, row)
      // Programs pass over empty lines.
      if (writer.at === at + 1) {
        writer.at = at
        writer.text('"",')
      }
      // In place of the last comma.
      writer.view.setUint16(writer.at - 1, CRLF, true)
      writer.at++
    },
    end() {},
  }
}
