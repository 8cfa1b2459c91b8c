/**
 * How satellite passes are named and which one a virtual buoy shows, written down again apart from the
 * product.
 */
import type { PassRecord } from '../../src/sea/records.ts'

/** By slug: number in ids, name, code in names; as the catalogue of missions has them for ever. */
const MISSIONS: { readonly [slug: string]: readonly [index: number, name: string, code: string] } = {
  'sentinel-3a': [1, 'Sentinel-3A', 'S3A'],
  'sentinel-3b': [2, 'Sentinel-3B', 'S3B'],
  'sentinel-6a': [3, 'Sentinel-6A Michael Freilich', 'S6A'],
  'jason-3': [4, 'Jason-3', 'J3'],
  saral: [5, 'SARAL/AltiKa', 'SARAL'],
  'cryosat-2': [6, 'CryoSat-2', 'C2'],
  swot: [7, 'SWOT', 'SWOT'],
  cfosat: [8, 'CFOSAT', 'CFO'],
}

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

/** A pass as the list of passes shows it. */
export function passItem(pass: PassRecord) {
  const { mission, cycle, number, observations } = pass
  const [index, name, code] = MISSIONS[mission]
  const [c, p] = [String(cycle).padStart(3, '0'), String(number)]
  return {
    id: index * 1e10 + cycle * 1e5 + number,
    name: `${name} cycle ${cycle} pass ${number}`,
    external_id: `${code}_C${c}_P${p.padStart(4, '0')}`,
    satellite_pass_id: `${code.toLowerCase()}-${c}-${p.padStart(3, '0')}`,
    platform: name,
    mission: { slug: mission, name },
    started_at: isoTime(pass.startedAt),
    ended_at: isoTime(pass.endedAt),
    buoy_count: new Set(observations.map(({ buoy }) => buoy)).size,
    observation_count: new Set(observations.map(({ buoy, time }) => `${buoy} ${time}`)).size,
    bounds: pass.bounds,
  }
}

/** What the map says of the pass that gave buoy `id` its newest reading, at `time`; null where none did. */
export function mapPass(passes: readonly PassRecord[], id: number, time: number) {
  const pass = passes.find(({ observations }) =>
    observations.some((observation) => observation.buoy === id && observation.time === time),
  )
  if (pass === undefined) return null
  const { id: pass_id, satellite_pass_id, external_id, name, platform } = passItem(pass)
  return { pass_id, satellite_pass_id, external_id, pass_name: name, pass_platform: platform }
}
