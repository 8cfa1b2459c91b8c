/** What a build says while it works and when it is done: progress, remarks, and the rows that were refused, by file and line. */
import { BuildError, type FileReport, type Report } from '../sources/source.ts'

/** Bad lines of one file that are told one by one; the rest is told as a number. */
const BAD_LINES_SHOWN = 5
/** Progress lines come at most this often, in milliseconds, where nobody watches a terminal. */
const PLAIN_INTERVAL = 2000
const TERMINAL_INTERVAL = 100

export interface BuildReportOptions {
  /** Share of a file's lines that may be bad, 0…1. */
  maxBadShare: number
  write: (text: string) => void
  /** A terminal gets one line that is written over; anything else gets plain lines. */
  terminal: boolean
  clock: () => number
}

export class BuildReport implements Report {
  readonly #options: BuildReportOptions
  readonly #skipped = new Map<string, number>()
  #lastProgress = -Infinity
  #files = 0
  #rows = 0
  #bad = 0

  constructor(options: BuildReportOptions) {
    this.#options = options
  }

  file(path: string): FileReport {
    return new FileCount(path, this.#options.maxBadShare, this)
  }

  warn(message: string): void {
    this.line(`warning: ${message}`)
  }

  /** Tells how far the work is; swallowed when the last one was a moment ago. */
  progress(message: string): void {
    const now = this.#options.clock()
    if (now - this.#lastProgress < (this.#options.terminal ? TERMINAL_INTERVAL : PLAIN_INTERVAL)) return
    this.#lastProgress = now
    if (this.#options.terminal) this.#options.write(`\r\x1b[K${message}`)
    else this.#options.write(`${message}\n`)
  }

  /** Tells something that must not be lost. */
  line(message: string): void {
    this.#options.write(this.#options.terminal ? `\r\x1b[K${message}\n` : `${message}\n`)
  }

  /** The sum of it, at the end. */
  summary(): void {
    this.line(`read ${this.#files} files, ${this.#rows} rows, ${this.#bad} bad lines`)
    for (const [reason, count] of this.#skipped) this.line(`  ${count} × ${reason}`)
  }

  /** @internal A file is done. */
  fileDone(rows: number, bad: number): void {
    this.#files++
    this.#rows += rows
    this.#bad += bad
    this.progress(`read ${this.#files} files, ${this.#rows} rows`)
  }

  /** @internal A row was left out by a rule. */
  skip(reason: string): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1)
  }
}

class FileCount implements FileReport {
  readonly #path: string
  readonly #maxBadShare: number
  readonly #report: BuildReport
  #rows = 0
  #bad = 0

  constructor(path: string, maxBadShare: number, report: BuildReport) {
    this.#path = path
    this.#maxBadShare = maxBadShare
    this.#report = report
  }

  rows(count: number): void {
    this.#rows += count
  }

  skipped(reason: string): void {
    this.#report.skip(reason)
  }

  bad(line: number, reason: string): void {
    if (++this.#bad <= BAD_LINES_SHOWN) this.#report.line(`${this.#path}:${line}: ${reason}`)
  }

  end(): void {
    if (this.#bad > BAD_LINES_SHOWN)
      this.#report.line(`${this.#path}: ${this.#bad - BAD_LINES_SHOWN} more bad lines`)
    this.#report.fileDone(this.#rows, this.#bad)
    const share = this.#bad / Math.max(1, this.#bad + this.#rows)
    if (share > this.#maxBadShare) {
      throw new BuildError(
        `${this.#path}: ${this.#bad} of ${this.#bad + this.#rows} lines are bad, at most ${this.#maxBadShare * 100} % may be (--max-bad)`,
      )
    }
  }
}
