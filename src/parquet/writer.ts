/** Writes a Parquet file row group by row group, and hands its bytes on after each. */
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { Encoding, Values } from './columns.ts'

/** Takes the next bytes of a file. They are overwritten when it returns. */
export type ByteSink = (bytes: Uint8Array) => void

export interface ParquetColumn {
  readonly name: string
  readonly element: SchemaElement
  readonly encoding?: Encoding
}

/** Room that a writer begins with; it grows to the size of a row group. Exports have many at a time. */
const FIRST_ROOM_BYTES = 2 ** 16

/** Holds one row group at a time. */
class GroupBytes extends ByteWriter {
  readonly #sink: ByteSink

  constructor(sink: ByteSink) {
    super(FIRST_ROOM_BYTES)
    this.#sink = sink
  }

  /** The writer calls it after each row group. */
  flush(): void {
    if (this.index === 0) return
    this.#sink(new Uint8Array(this.buffer, 0, this.index))
    this.index = 0
  }

  override finish(): void {
    this.flush()
  }
}

export class ParquetFile {
  readonly #columns: readonly ParquetColumn[]
  readonly #writer: ParquetWriter

  /** @param metadata keys and values of the file, in the order in which they stand there */
  constructor(
    columns: readonly ParquetColumn[],
    metadata: { readonly [key: string]: string },
    createdBy: string,
    sink: ByteSink,
  ) {
    this.#columns = columns
    this.#writer = new ParquetWriter({
      writer: new GroupBytes(sink),
      schema: [
        { name: 'groundswell', num_children: columns.length },
        ...columns.map(({ element }) => element),
      ],
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
      createdBy,
    })
  }

  /** Writes one row group: the values of each column, all of one length above 0. */
  group(values: readonly Values[]): void {
    const columnData = this.#columns.map(({ name, encoding }, i) => ({
      name,
      data: values[i],
      ...(encoding !== undefined && { encoding }),
    }))
    void this.#writer.write({ columnData, rowGroupSize: values[0].length })
  }

  /** Writes the footer: without it the bytes are not a Parquet file. */
  finish(): void {
    void this.#writer.finish()
  }
}
