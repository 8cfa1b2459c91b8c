/** The lines of the small tables as records: networks, buoys, spots, harbours, passes. */
import { constituentOf, MAX_AMPLITUDE } from '../../sea/tidal-constituents.ts'
import type {
  BuoyRecord,
  HarbourRecord,
  Network,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../../sea/records.ts'
import { type Cell, identifiedPlaceOf, placeOf } from '../reading/text-table.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfSlug } from '../../sea/missions.ts'
import { isZone } from '../../sea/zones.ts'
import { cleanName, degreesOf, MOST_OF_CREDIT } from '../reading/fields.ts'
import { secondsOf } from './csv-rows.ts'

export const SOURCE_COLUMNS = ['name', 'network', 'credit', 'licence']

function isNetwork(text: string): text is Network {
  return text === 'national' || text === 'coastal' || text === 'satellite'
}

export function sourceOf(cell: Cell): SourceInfo | string {
  const name = cleanName(cell('name'))
  const network = cell('network')
  if (!/^[^"]+$/.test(name)) return 'a source needs a name, without quotes'
  if (!isNetwork(network)) return 'network is not one of national, coastal, satellite'
  const credit = cleanName(cell('credit'), MOST_OF_CREDIT)
  const licence = cleanName(cell('licence'), MOST_OF_CREDIT)
  return { name, network, ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
}

export const BUOY_COLUMNS = ['source', 'identifier', 'name', 'lat', 'lng', 'country', 'timezone', 'virtual']
/** The number of first columns that are required. */
export const REQUIRED_OF_BUOY = 5

export function buoyOf(cell: Cell, zones: Set<string>): BuoyRecord | string {
  const place = identifiedPlaceOf(cell, 'buoy')
  if (typeof place === 'string') return place
  const country = cell('country')
  if (!/^([A-Z]{2})?$/.test(country)) return 'country is not two capital letters'
  const timezone = cell('timezone')
  if (timezone !== '' && !isKnownZone(timezone, zones)) return 'timezone is not an IANA time zone'
  const virtual = cell('virtual')
  if (!['', 'true', 'false', '1', '0'].includes(virtual)) return 'virtual is not true or false'
  return {
    source: cleanName(cell('source')),
    ...place,
    ...(country !== '' && { country }),
    ...(timezone !== '' && { timezone }),
    ...((virtual === 'true' || virtual === '1') && { virtual: true }),
  }
}

/** `zones` holds those that are known already. */
function isKnownZone(name: string, zones: Set<string>): boolean {
  if (zones.has(name)) return true
  if (!isZone(name)) return false
  zones.add(name)
  return true
}

export const SPOT_COLUMNS = ['id', 'name', 'lat', 'lng']

export function spotOf(cell: Cell): SpotRecord | string {
  const id = /^[0-9]{1,10}$/.test(cell('id')) ? Number(cell('id')) : 0
  if (id < 1 || id > 0xffff_ffff) return 'id is not a whole number from 1 to 4294967295'
  const place = placeOf(cell, 'spot')
  return typeof place === 'string' ? place : { id, ...place }
}

export const HARBOUR_COLUMNS = ['identifier', 'name', 'lat', 'lng', 'datum_offset', 'credit']
export const CONSTITUENT_COLUMNS = ['harbour', 'constituent', 'amplitude', 'phase']

/** m; chart datum lies within some metres of the sea. */
const MAX_DATUM_OFFSET = 20

export function harbourOf(cell: Cell): HarbourRecord | string {
  const place = identifiedPlaceOf(cell, 'harbour')
  if (typeof place === 'string') return place
  const datumOffset = degreesOf(cell('datum_offset'), MAX_DATUM_OFFSET)
  if (Number.isNaN(datumOffset)) {
    return `datum_offset is not a number from -${MAX_DATUM_OFFSET} to ${MAX_DATUM_OFFSET}`
  }
  const credit = cleanName(cell('credit'), MOST_OF_CREDIT)
  if (credit === '') return 'a harbour without a credit'
  return { ...place, datumOffset, credit, constituents: [] }
}

/** A line of `constituents.csv`, without its harbour. */
export function constituentLineOf(cell: Cell): HarbourRecord['constituents'][number] | string {
  const name = constituentOf(cell('constituent'))?.name
  if (name === undefined) return 'constituent is not the name of a tidal constituent'
  const amplitude = degreesOf(cell('amplitude'), MAX_AMPLITUDE)
  if (!(amplitude >= 0)) return `amplitude is not a number from 0 to ${MAX_AMPLITUDE}`
  const phase = degreesOf(cell('phase'), 360)
  if (Number.isNaN(phase)) return 'phase is not a number from -360 to 360'
  return { name, amplitude, phase }
}

const PASS_KEYS = ['mission', 'cycle', 'number']
export const PASS_COLUMNS = [...PASS_KEYS, 'started_at', 'ended_at', 'south', 'west', 'north', 'east']
export const OBSERVATION_COLUMNS = [...PASS_KEYS, 'source', 'identifier', 'time']

export const passKey = (cell: Cell): string =>
  `${cell('mission')} ${countOf(cell('cycle'))} ${countOf(cell('number'))}`

export function passOf(cell: Cell): PassRecord | string {
  const mission = cell('mission')
  if (missionOfSlug(mission) === undefined) return 'mission is not the slug of a satellite mission'
  const cycle = countOf(cell('cycle'))
  if (!(cycle <= MAX_CYCLE)) return `cycle is not a whole number from 0 to ${MAX_CYCLE}`
  const number = countOf(cell('number'))
  if (!(number >= 1 && number <= MAX_PASS_NUMBER))
    return `number is not a whole number from 1 to ${MAX_PASS_NUMBER}`
  const [startedAt, endedAt] = [secondsOf(cell('started_at')), secondsOf(cell('ended_at'))]
  if (startedAt < 0 || endedAt < startedAt) return 'started_at and ended_at are not two times in this order'
  const [south, north] = [degreesOf(cell('south'), 90), degreesOf(cell('north'), 90)]
  if (!(south <= north)) return 'south and north are not numbers from -90 to 90 in this order'
  const [west, east] = [degreesOf(cell('west'), 180), degreesOf(cell('east'), 180)]
  if (Number.isNaN(west) || Number.isNaN(east)) return 'west and east are not numbers from -180 to 180'
  return {
    mission,
    cycle,
    number,
    startedAt,
    endedAt,
    bounds: { south, west, north, east },
    observations: [],
  }
}

/** A whole number in at most nine digits, else NaN. */
const countOf = (text: string): number => (/^[0-9]{1,9}$/.test(text) ? Number(text) : NaN)
