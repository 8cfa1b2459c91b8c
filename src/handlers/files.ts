/** `GET /files`: the exported files, so that nobody fetches ten years in pages. */
import { EXPENSIVE_BYTES, operation } from '../operation/operation.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { finish, type Steps } from '../system/steps.ts'

/** Bytes copied at a time, in some microseconds. */
const BYTES_A_STEP = 16 * 1024

export const listFiles = operation({
  name: 'listFiles',
  path: '/files',
  access: 'keyed',
  summary: 'Bulk files of all readings',
  parameters: {},
  refusal: 'bad_request',
  errors: [],
  answer({ dataset: { files }, fragments: { writer } }) {
    const steps = (out: JsonWriter): Steps<void> => copied(out, files)
    if (files.length > EXPENSIVE_BYTES) return { bytes: files.length, steps }
    finish(steps(writer))
    return undefined
  },
})

function* copied(writer: JsonWriter, bytes: Uint8Array): Steps<void> {
  for (let at = 0; at < bytes.length; at += BYTES_A_STEP) {
    writer.take(bytes.subarray(at, at + BYTES_A_STEP))
    yield
  }
}
