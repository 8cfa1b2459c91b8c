/**
 * GeoJSON by RFC 7946: longitude first, columns as properties, the paging as a foreign member `meta`.
 * Properties are scalars: map programs colour and filter only by scalars.
 */
import type { JsonWriter } from './json-writer.ts'
import { Literal } from './literals.ts'
import type { Column, Line, Place, Table } from './table.ts'
import { type Cell, cellOf, ROW_REST_BYTES } from './cells.ts'
import { flatObjectCell, objectBytes, type RowForm } from './row-writers.ts'

/** Bytes: more than a feature takes without its properties. */
const FEATURE_BYTES = 256

const FEATURE = new Literal('{"type":"Feature",')
const ID = new Literal('"id":')
const GEOMETRY = new Literal('"geometry":')
const ID_END = new Literal(',"geometry":')
const POINT = new Literal('{"type":"Point","coordinates":[')
const POINT_END = new Literal(']}')
const PROPERTIES = new Literal(',"properties":')
const FEATURE_END = new Literal('}')

/** `meta`: members of the collection's `meta`, JSON without braces. */
export function geojsonForm(
  table: Pick<Table, 'columns' | 'place' | 'id'>,
  columns: readonly Column[],
  meta: string,
): RowForm {
  const properties = flatObjectCell(columns)
  const geometry = geometryCell(table.place!)
  const idColumn = table.columns.find(({ name }) => name === table.id)
  const id = idColumn === undefined ? null : cellOf(idColumn, false)
  let isFirst = true
  return {
    rowBytes: objectBytes(columns) + FEATURE_BYTES,
    begin(writer) {
      isFirst = true
      writer.text('{"type":"FeatureCollection","features":[')
    },
    row(writer, row, run) {
      if (!isFirst) writer.comma()
      isFirst = false
      writer.literal(FEATURE)
      if (id === null) writer.literal(GEOMETRY)
      else {
        writer.literal(ID)
        id(writer, row, run)
        writer.literal(ID_END)
      }
      geometry(writer, row, run)
      writer.literal(PROPERTIES)
      properties(writer, row, run)
      writer.literal(FEATURE_END)
    },
    end(writer, count) {
      writer.text(`],"meta":{${meta}${meta === '' ? '' : ','}"returned":${count}}}`)
    },
  }
}

function geometryCell(place: Place): Cell {
  if (place.kind === 'line') return (writer, row) => writeLine(writer, place.line(row))
  return (writer, row, run) => {
    writer.literal(POINT)
    writer.number(place.lng(row, run))
    writer.comma()
    writer.number(place.lat(row, run))
    writer.literal(POINT_END)
  }
}

/** Writes a line, cut at the antimeridian (RFC 7946, 3.1.9), one point as a point, none as null. */
function writeLine(writer: JsonWriter, { lat, lng }: Line): void {
  if (lat.length < 2) {
    if (lat.length === 0) writer.null()
    else writer.text(`{"type":"Point","coordinates":[${lng[0]},${lat[0]}]}`)
    return
  }
  const lines: string[][] = [[]]
  for (let i = 0; i < lat.length; i++) {
    const before = lng[i - 1]
    if (i > 0 && Math.abs(lng[i] - before) > 180) {
      const edge = before > 0 ? 180 : -180
      // Degrees from the point before to the edge, and from the edge to this point.
      const toEdge = Math.abs(edge - before)
      const fromEdge = Math.abs(-edge - lng[i])
      const share = toEdge + fromEdge === 0 ? 0 : toEdge / (toEdge + fromEdge)
      const crossing = Number((lat[i - 1] + (lat[i] - lat[i - 1]) * share).toFixed(5))
      lines.at(-1)!.push(`[${edge},${crossing}]`)
      lines.push([`[${-edge},${crossing}]`])
    }
    lines.at(-1)!.push(`[${lng[i]},${lat[i]}]`)
  }
  const texts = lines.map((points) => `[${points.join(',')}]`)
  writer.text(
    lines.length === 1
      ? `{"type":"LineString","coordinates":${texts[0]}}`
      : `{"type":"MultiLineString","coordinates":[${texts.join(',')}]}`,
  )
  writer.ensure(ROW_REST_BYTES)
}
