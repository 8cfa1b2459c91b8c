/** The built pages as a server reads them. */
import { fileURLToPath } from 'node:url'
import { readSite, type PageValues, type StaticFile } from '../../src/server/static-files.ts'

/** Of a server whose operator has set nothing. */
export const USUAL: PageValues = {
  base_path: '/v2',
  explorer: 'keyed',
  refresh: '0',
  contact: '',
  embed: '',
  map_style: '',
  public_url: '',
  title: 'groundswell',
  logo: '',
  accent: '',
}

export const builtSite = (values: Partial<PageValues> = {}): StaticFile[] =>
  readSite(fileURLToPath(new URL('../../dist/site', import.meta.url)), { ...USUAL, ...values })
