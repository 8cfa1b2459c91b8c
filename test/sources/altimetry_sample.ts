import { readFileSync, rmSync } from 'node:fs'

const EPOCH_2000 = 946_684_800
const POINTS = 60

/**
 * A small file of an altimeter, along one pass over a virtual buoy of the grid; `path` is where it may lie
 * for a moment.
 */
export async function altimetrySample(path: string): Promise<Uint8Array> {
  const { File, ready } = await import('h5wasm/node')
  await ready
  const file = new File(path, 'w')
  file.create_attribute('platform', 'Sentinel-3A')
  const indexes = Array.from({ length: POINTS }, (_, i) => i)
  const time = file.create_dataset({
    name: 'time',
    data: Float64Array.from(indexes, (i) => 1_643_700_000 + i - EPOCH_2000),
  })
  time.create_attribute('units', 'seconds since 2000-01-01 00:00:00.0')
  const list = (name: string, data: Int32Array | Int16Array, scale: number): void => {
    const variable = file.create_dataset({ name, data })
    variable.create_attribute('scale_factor', Float64Array.of(scale))
  }
  list(
    'latitude',
    Int32Array.from(indexes, (i) => Math.round((8 + (i - POINTS / 2) * 0.06) * 1e6)),
    1e-6,
  )
  list('longitude', new Int32Array(POINTS).fill(324_000_000), 1e-6)
  list('VAVH', new Int16Array(POINTS).fill(2100), 0.001)
  file.close()
  const bytes = readFileSync(path)
  rmSync(path)
  return bytes
}
