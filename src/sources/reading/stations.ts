/**
 * Stations known from rows that name station and position, and where each is, by all of its fixes. Files are
 * read twice, as a buoy is announced with its position before its rows are sent, in batches of one buoy.
 *
 * A mooring swings and is laid again, a drifter moves on; neither leaps. Fixes that cannot be one station's,
 * since nothing drifts that fast, are strays where they are few, and several stations under one identifier
 * where they are many.
 */
import type { Report, Sink } from '../source.ts'
import { haversineKm, wrapLongitude } from '../../sea/geo.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import { BuildError } from '../../system/build-error.ts'
import { cleanName } from './fields.ts'
import { takeDoubts } from './source-files.ts'

/** A mooring swings or is laid again within this; a farther position needs another to confirm it. */
const JUMP_KM = 1

/** Fixes of one place lie within this distance, whatever their times. */
const APART_KM = 50

/** Faster than currents (9 km/h) and vehicles that sail by themselves (15 km/h). */
const FASTEST_KMH = 20

/** Stays at places more than APART_KM apart; the newest are kept. */
const MOST_STAYS = 200

/** Fewer strays than this, or than this share of all fixes, are faults of single rows. */
const FEW_STRAYS = 2
const STRAY_SHARE = 0.01

/** A leap farther than the last digit of degrees with one decimal, and faster than anything sails. */
const LEAP_KM = 16
/** More leaps than this, and than this share of all fixes, mean two places, not faults of single rows. */
const FEW_LEAPS = 2
const LEAP_SHARE = 0.1

/** Epoch seconds; degrees, the longitude in −180…180. */
export interface Fix {
  time: number
  lat: number
  lng: number
}

/** Fixes within APART_KM that came one after another. */
interface Stay {
  first: Fix
  /** The newest three of different times, newest first. */
  newest: Fix[]
  count: number
}

export class Positions {
  readonly #stays: Stay[] = []
  #last: Fix | null = null
  #fixes = 0
  #leaps = 0
  /** Fixes at 0 N 0 E, which stands for "unknown"; the only buoy there is in lists of stations. */
  zeros = 0
  /** Positions that are not on the globe; NaN stands for none. */
  impossible = 0

  /** Notes a fix, in any order; a longitude may be 0…360. An impossible position and 0 0 do not count. */
  add(time: number, lat: number, lng: number): void {
    if (!(Math.abs(lat) <= 90 && lng >= -180 && lng <= 360)) {
      if (!Number.isNaN(lat + lng)) this.impossible++
      return
    }
    const fix = { time, lat, lng: wrapLongitude(lng) }
    if (fix.lat === 0 && fix.lng === 0) {
      this.zeros++
      return
    }
    this.#fixes++
    if (this.#last !== null && isLeap(this.#last, fix)) this.#leaps++
    this.#last = fix
    const present = this.#stays.at(-1)
    if (present !== undefined && kmApart(fix, present.first) <= APART_KM) note(present, fix)
    else this.#begin(fix)
  }

  #begin(fix: Fix): void {
    const stays = this.#stays
    if (stays.length === MOST_STAYS) {
      const oldest = stays.reduce((old, stay, i) => (stay.first.time < stays[old].first.time ? i : old), 0)
      stays.splice(oldest, 1)
    }
    stays.push({ first: fix, newest: [fix], count: 1 })
  }

  #toAndFro(): string {
    const { lat, lng } = this.#last!
    return `${this.#leaps} leaps of more than ${LEAP_KM} km, the last to ${lat} ${lng}`
  }

  /**
   * The station's newest steady position among the fixes that it can have moved through, null without one.
   * `strays` counts the other fixes; unless they are faults of single rows, the fixes are of `several`
   * stations, and `places` says where these are: "12 fixes at -30.36 153.27".
   */
  settle(): { at: Fix | null; strays: number; several: boolean; places: string } {
    const tracks: Stay[] = []
    for (const stay of this.#stays.toSorted((a, b) => a.first.time - b.first.time)) {
      const track = tracks
        .filter(({ newest: [end] }) => canReach(end, stay.first))
        .sort((a, b) => kmApart(a.newest[0], stay.first) - kmApart(b.newest[0], stay.first))[0]
      if (track === undefined) tracks.push({ ...stay, newest: [...stay.newest] })
      else {
        for (const fix of stay.newest.toReversed()) note(track, fix)
        track.count += stay.count - stay.newest.length
      }
    }
    tracks.sort((a, b) => b.count - a.count)
    const [main] = tracks
    const all = tracks.reduce((sum, { count }) => sum + count, 0)
    const strays = all - (main?.count ?? 0)
    const few = Math.max(FEW_STRAYS, STRAY_SHARE * all)
    // Two buoys near each other lie within one stay: their fixes go to and fro.
    const isToAndFro = this.#leaps > Math.max(FEW_LEAPS, LEAP_SHARE * this.#fixes)
    const placeOf = ({ count, newest: [{ lat, lng }] }: Stay): string => `${count} fixes at ${lat} ${lng}`
    return {
      at: main === undefined ? null : steadyOf(main.newest),
      strays,
      several: isToAndFro || strays > few || (strays > 0 && strays * 2 > main.count),
      places:
        isToAndFro && tracks.length === 1 ? this.#toAndFro() : tracks.slice(0, 3).map(placeOf).join(', '),
    }
  }
}

/** Whether a fix is farther from the one before it than anything sails in the time between. */
function isLeap(from: Fix, to: Fix): boolean {
  const km = kmApart(from, to)
  return km > LEAP_KM && km > (FASTEST_KMH * Math.abs(to.time - from.time)) / 3600
}

function kmApart(a: Fix, b: Fix): number {
  return a.lat === b.lat && a.lng === b.lng ? 0 : haversineKm(a.lat, a.lng, b.lat, b.lng)
}

function canReach(from: Fix, to: Fix): boolean {
  return kmApart(from, to) <= Math.max(APART_KM, (FASTEST_KMH * (to.time - from.time)) / 3600)
}

function note(stay: Stay, fix: Fix): void {
  const { newest } = stay
  stay.count++
  if (fix.time < stay.first.time) stay.first = fix
  const older = newest.findIndex((one) => one.time <= fix.time)
  const at = older < 0 ? newest.length : older
  // Several rows with one time count as one position.
  if (at < 3 && newest[at]?.time !== fix.time) newest.splice(at, 0, fix)
  if (newest.length > 3) newest.pop()
}

/** A drifter moves on from each position to the next; a steady mooring jumps only by a fault. */
function steadyOf([newest, before, first]: readonly Fix[]): Fix {
  if (before === undefined || first === undefined) return newest
  return kmApart(newest, before) > JUMP_KM && kmApart(before, first) <= JUMP_KM ? before : newest
}

/** More than all networks of the world have; a damaged column of identifiers must not fill the memory. */
const MAX_STATIONS = 100_000

export const IDENTIFIER = /^[^"\p{Cc}]{1,64}$/u

interface Station {
  name: string
  positions: Positions
}

export class Stations {
  readonly #stations = new Map<string, Station>()

  /**
   * Notes a row of a station; the first name that is not empty counts. Longitudes may be 0…360, and an
   * impossible position is ignored. @throws BuildError for more stations than there can be
   */
  see(identifier: string, time: number, lat: number, lng: number, name: string): void {
    let station = this.#stations.get(identifier)
    if (station === undefined) {
      if (this.#stations.size === MAX_STATIONS) throw new BuildError(`more than ${MAX_STATIONS} stations`)
      this.#stations.set(identifier, (station = { name: '', positions: new Positions() }))
    }
    if (station.name === '' && name !== '') station.name = cleanName(name)
    station.positions.add(time, lat, lng)
  }

  /**
   * Announces all stations with a position by identifier, with the record of `known` or their own name and
   * position. Returns their handles. A station without a position, and one with fixes of several
   * stations, is left out with a doubt; `hint` names what else could be the identifier;
   * with `comparesPlaces` a listed place that is far from the rows makes a doubt.
   */
  announce(
    sink: Sink,
    source: string,
    report: Pick<Report, 'doubt' | 'withoutPosition'>,
    known: ReadonlyMap<string, Partial<BuoyRecord>> = new Map(),
    { hint = '', comparesPlaces = false }: { hint?: string; comparesPlaces?: boolean } = {},
  ): Map<string, number> {
    const handles = new Map<string, number>()
    const placeless: string[] = []
    const doubt = takeDoubts(report)
    for (const identifier of [...this.#stations.keys()].sort()) {
      const { name, positions } = this.#stations.get(identifier)!
      const listed = known.get(identifier) ?? {}
      const { at, strays, several, places } = positions.settle()
      doubt('zero', identifier, positions.zeros)
      doubt('offGlobe', identifier, positions.impossible)
      if (several) doubt('several', `${identifier}: ${places}${hint}`)
      else doubt('strays', `${identifier}: ${places}`, strays)
      const { lat, lng } = { ...(several ? null : at), ...listed }
      const isElsewhere =
        comparesPlaces && at !== null && listed.lat !== undefined && listed.lng !== undefined
      const km = isElsewhere ? haversineKm(at.lat, at.lng, listed.lat!, listed.lng!) : 0
      if (km > APART_KM) doubt('elsewhere', `${identifier}: ${Math.round(km)} km from ${at!.lat} ${at!.lng}`)
      if (several && lat === undefined) continue
      if (lat === undefined || lng === undefined) placeless.push(identifier)
      else {
        const ownName = name === '' ? `${source} ${identifier}` : name
        handles.set(identifier, sink.buoy({ name: ownName, ...listed, source, identifier, lat, lng }))
      }
    }
    report.withoutPosition(placeless)
    return handles
  }
}
