/** Counts the rows and the bad lines of one file while it is read. */
import type { FileReport } from '../../sources/source.ts'
import { counted } from '../../system/counted.ts'
import { BuildError } from '../../system/build-error.ts'
import { BAD_LINES_SHOWN, quoted } from './bounds.ts'
import type { SourceDocument } from './document.ts'

export type BadLine = SourceDocument['bad'][number]

/** Where the counts of a file go. */
export interface FileCountSink {
  line(message: string): void
  badLine(line: BadLine, times: number): void
  skip(reason: string, station: string | undefined, times: number): void
  fileDone(path: string, rows: number, bad: number): void
}

export class FileCount implements FileReport {
  readonly #path: string
  /** Share of the lines that may be bad, 0…1. */
  readonly #maxBadShare: number
  readonly #sink: FileCountSink
  #rows = 0
  #bad = 0

  constructor(path: string, maxBadShare: number, sink: FileCountSink) {
    this.#path = path
    this.#maxBadShare = maxBadShare
    this.#sink = sink
  }

  rows(count: number): void {
    this.#rows += count
  }

  skipped(reason: string, station?: string, times = 1): void {
    this.#sink.skip(reason, station, times)
  }

  bad(line: number, reason: string, text?: string, times = 1): void {
    const shown = text === undefined ? null : quoted(text)
    this.#sink.badLine({ file: this.#path, line, reason, text: shown }, times)
    if (this.#bad < BAD_LINES_SHOWN)
      this.#sink.line(`${this.#path}:${line}: ${reason}${shown === null ? '' : `: ${shown}`}`)
    this.#bad += times
  }

  end(): void {
    if (this.#bad > BAD_LINES_SHOWN)
      this.#sink.line(`${this.#path}: ${counted(this.#bad - BAD_LINES_SHOWN, 'more bad line')}`)
    this.#sink.fileDone(this.#path, this.#rows, this.#bad)
    const lines = this.#bad + this.#rows
    if (this.#bad / Math.max(1, lines) > this.#maxBadShare) {
      throw new BuildError(
        `${this.#path}: bad lines: ${this.#bad} of ${lines}, at most ${this.#maxBadShare * 100} % may be bad (--max-bad)`,
      )
    }
  }
}
