import type { RowBatch } from '../../src/sea/row-batch.ts'
import type { Sink } from '../../src/sources/source.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../../src/sea/records.ts'

/** A sink that keeps every record as it came; the test that extends it decides about the rows. */
export abstract class RecordingSink implements Sink {
  sources: SourceInfo[] = []
  /** By handle. */
  records: BuoyRecord[] = []
  passes: PassRecord[] = []
  forecasts: ForecastRecord[] = []
  harbours: HarbourRecord[] = []
  spots: SpotRecord[] = []

  abstract rows(buoy: number, batch: RowBatch): void

  source(info: SourceInfo): void {
    this.sources.push(info)
  }

  buoy(record: BuoyRecord): number {
    return this.records.push(record) - 1
  }

  pass(record: PassRecord): void {
    this.passes.push(record)
  }

  forecast(record: ForecastRecord): void {
    this.forecasts.push(record)
  }

  harbour(record: HarbourRecord): void {
    this.harbours.push(record)
  }

  spot(record: SpotRecord): void {
    this.spots.push(record)
  }
}
