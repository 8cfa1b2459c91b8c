/** Writes NetCDF-4 files for tests: any variables with any attributes. */
import { type Dataset, File, ready } from 'h5wasm/node'

await ready

type Numbers = Float64Array | Float32Array | Int32Array | Int16Array | Int8Array | BigInt64Array
type Attributes = { readonly [name: string]: string | Exclude<Numbers, BigInt64Array> }

export interface Variable {
  name: string
  /** Row by row. */
  data: Numbers | string[]
  /** Values in a row; one and a single dimension where it is left out, 0 for a single value without dimensions. */
  levels?: number
  /** The variables that are its dimensions, written before it. */
  scales?: string[]
  attributes?: Attributes
}

export function writeNetcdf(path: string, attributes: Attributes, variables: readonly Variable[]): void {
  const file = new File(path, 'w')
  for (const [name, value] of Object.entries(attributes)) file.create_attribute(name, value)
  for (const { name, data, levels = 1, attributes: own = {}, scales = [] } of variables) {
    const shape = levels === 0 ? [] : levels === 1 ? [data.length] : [data.length / levels, levels]
    const dtype = Array.isArray(data) ? `S${Math.max(...data.map(({ length }) => length))}` : undefined
    const variable = file.create_dataset({ name, data, shape, ...(dtype !== undefined && { dtype }) })
    for (const [key, value] of Object.entries(own)) variable.create_attribute(key, value)
    for (const [i, scale] of scales.entries()) {
      ;(file.get(scale) as Dataset).make_scale(scale)
      variable.attach_scale(i, scale)
    }
  }
  file.close()
}
