/** The public API as the explorer uses it: calls with the visitor's key, and what can become of them. */

export interface Reading {
  significient_height: number
  maximum_height: number | null
  period: number | null
  time: string
  water_temperature: number | null
  direction: number | null
}

export interface MapBuoy {
  id: number
  name: string
  slug: string
  lat: number
  lng: number
  timezone: string
  source: string
  virtual: boolean
  last_reading_time: string | null
  last_reading: Reading | null
  satellite_pass_id?: string | null
  pass_name?: string | null
}

export interface BuoyDetail {
  id: number
  name: string
  slug: string
  lat: number
  lng: number
  source: string
  source_identifier: string
  last_reading_time: string | null
  readings_count: number
  last_reading: Reading | null
  timezone: string
  country: string | null
}

export interface FoundBuoy {
  id: number
  name: string
  slug: string
  lat: number
  lng: number
  source: string
  source_identifier: string
  country: string | null
}

type Column = readonly (number | null)[]

export interface ChartData {
  time: readonly string[]
  significant_height: Column
  maximum_height: Column
  period: Column
  forecast_wave_height: Column
  tide_level: Column
}

export interface SeriesYear {
  year: number
  complete: boolean
  point_count: number
  points: readonly { bucket_index: number; label: string; value: number | null }[]
}

export interface SeriesData {
  years: readonly SeriesYear[]
}

export interface Conditions {
  location: { lat: number; lng: number; timezone: string }
  forecast: {
    waves_height: number | null
    waves_period: number | null
    waves_direction: string | null
    wind_speed: number | null
    wind_direction: string | null
    swell_height: number | null
    swell_period: number | null
    swell_direction: string | null
  }
  reading:
    | { exists: false }
    | {
        exists: true
        significient_height: number
        time: string
        buoy: { id: number; name: string; distance_km: number }
      }
  tide: {
    height: number | null
    direction: string | null
    seconds_to_next_tide_change: number | null
    next_tide: string | null
    next_tide_height: number | null
    harbor: string | null
  }
  metadata: { forecast_updated_at: string | null; tide_source: string | null }
}

export interface SatellitePass {
  id: number
  name: string
  satellite_pass_id: string
  platform: string
  mission: { slug: string; name: string }
  started_at: string
  ended_at: string
  buoy_count: number
  observation_count: number
  bounds: { south: number; west: number; north: number; east: number }
}

export type Trouble = 'unauthorized' | 'quota' | 'offline' | 'unavailable' | 'not found' | 'refused'

/** A call that did not succeed, with what a visitor can do about it. */
export class ApiTrouble extends Error {
  override name = 'ApiTrouble'
  readonly kind: Trouble
  /** Epoch milliseconds at which to try again; null where that would change nothing. */
  readonly again: number | null

  constructor(kind: Trouble, message: string, again: number | null = null) {
    super(message)
    this.kind = kind
    this.again = again
  }
}

export interface Quota {
  limit: number
  remaining: number
  /** Epoch milliseconds. */
  reset: number
}

export class Api {
  readonly #base: string
  readonly #clock: () => number
  key: string
  /** What the last answer said; null before the first one. */
  quota: Quota | null = null
  onQuota: () => void = () => {}

  /** `base` is the path of the operations, `clock` gives epoch milliseconds. */
  constructor(base: string, key: string, clock: () => number) {
    this.#base = base
    this.key = key
    this.#clock = clock
  }

  /** The address of a call, from its root. */
  address(path: string, query: { readonly [name: string]: string | number | null } = {}): string {
    const fields = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== null) fields.set(name, String(value))
    const text = fields.toString()
    return `${this.#base}${path}${text === '' ? '' : `?${text}`}`
  }

  /** The `data` of the answer at an address. @throws ApiTrouble, or what ended `signal` */
  async get<T>(address: string, access: 'keyed' | 'public', signal: AbortSignal | null = null): Promise<T> {
    return (await this.ask(address, access, signal)).data as T
  }

  /**
   * The `data` of the answer at an address, and the id of the snapshot that it was made from. The browser's
   * own copy is used only where the server says that it is still right.
   * @throws ApiTrouble, or what ended `signal`
   */
  async ask(
    address: string,
    access: 'keyed' | 'public',
    signal: AbortSignal | null = null,
  ): Promise<{ data: unknown; snapshot: string | null }> {
    // What can only be refused is not asked.
    if (access === 'keyed' && this.key === '') throw new ApiTrouble('unauthorized', 'API key required')
    // Node's types, under which the tests are checked, do not know of browsers' caches.
    const how: RequestInit & { cache: 'no-cache' } = {
      headers: this.key === '' ? {} : { Authorization: `Bearer ${this.key}` },
      cache: 'no-cache',
      signal,
    }
    let answer: Response
    try {
      answer = await fetch(address, how)
    } catch {
      signal?.throwIfAborted()
      throw new ApiTrouble('offline', 'The server cannot be reached.', this.#clock() + 10_000)
    }
    this.#readQuota(answer.headers)
    const body = (await answer.json().catch(() => null)) as { data?: unknown; message?: string } | null
    signal?.throwIfAborted()
    if (answer.ok && body?.data !== undefined) {
      return { data: body.data, snapshot: answer.headers.get('X-Snapshot-Id') }
    }
    throw this.#trouble(answer, body?.message ?? `The server answered ${answer.status}.`)
  }

  #readQuota(headers: Headers): void {
    const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) =>
      headers.get(`X-RateLimit-${name}`),
    )
    if (limit === null || remaining === null || reset === null) return
    this.quota = { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) * 1000 }
    this.onQuota()
  }

  #trouble(answer: Response, message: string): ApiTrouble {
    const wait = Number(answer.headers.get('Retry-After') ?? NaN)
    const again = Number.isFinite(wait) ? this.#clock() + wait * 1000 : null
    switch (answer.status) {
      case 401:
        return new ApiTrouble('unauthorized', message)
      case 404:
        return new ApiTrouble('not found', message)
      case 429:
        return new ApiTrouble('quota', message, this.quota?.reset ?? again)
      default:
        return answer.status >= 500
          ? new ApiTrouble('unavailable', message, again ?? this.#clock() + 10_000)
          : new ApiTrouble('refused', message)
    }
  }
}
