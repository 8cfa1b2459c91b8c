/** `GET /files`: the exported files, so that nobody fetches ten years in pages. */
import { operation } from '../operation/operation.ts'

export const listFiles = operation({
  name: 'listFiles',
  path: '/files',
  access: 'keyed',
  summary: 'Bulk files of all readings',
  parameters: {},
  refusal: 'bad_request',
  errors: [],
  answer({ dataset: { files }, fragments: { writer } }) {
    writer.take(files)
  },
})
