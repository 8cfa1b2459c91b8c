/**
 * Client of the groundswell wave-buoy API, version 2.0.0. It needs only `fetch`: Node 20, Deno, Bun, browsers.
 * `npm run openapi` makes this file from `clients/openapi.json`: do not edit it.
 */

/** One measurement of the waves at a buoy. */
export type Reading = {
  /** Identifier of the reading, made of buoy and time. It stays the same in every later snapshot. */
  id: number
  /** UUID of the reading, made of buoy and time. It stays the same in every later snapshot. */
  uuid: string
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. */
  significient_height: number
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** When the waves were measured, UTC, or with the offset of `timezone`. */
  time: string
  /** Temperature of the water, in °C. `null` where there is none. */
  water_temperature: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
  /** `direction` as text, one of 16 points of the compass. `null` where there is none. */
  direction_compass: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Unit of the heights. */
  unit: 'm'
  /** Energy of one wave of this height and period, in kJ per metre of crest. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π. `null` where there is none. */
  energy_per_wave: number | null
  /** With `include=peak_period`: period at the peak of the spectrum, in s. `null` where there is none. */
  peak_period?: number | null
  /** With `include=wind`: speed of the wind, in km/h. `null` where there is none. */
  wind_speed?: number | null
  /** With `include=wind`: direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_direction?: number | null
  /** With `include=wind`: speed of gusts, in km/h. `null` where there is none. */
  gust_speed?: number | null
  /** With `include=swell`: significant height of the swell, in m. `null` where there is none. */
  swell_height?: number | null
  /** With `include=swell`: period of the swell, in s. `null` where there is none. */
  swell_period?: number | null
  /** With `include=swell`: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. */
  swell_direction?: number | null
  /** With `include=swell`: significant height of the wind sea, in m. `null` where there is none. */
  wind_wave_height?: number | null
  /** With `include=swell`: period of the wind sea, in s. `null` where there is none. */
  wind_wave_period?: number | null
  /** With `include=swell`: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_wave_direction?: number | null
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
}

/** A reading with its buoy. */
export type ReadingOfBuoy = {
  /** Identifier of the reading, made of buoy and time. It stays the same in every later snapshot. */
  id: number
  /** UUID of the reading, made of buoy and time. It stays the same in every later snapshot. */
  uuid: string
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. */
  significient_height: number
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** When the waves were measured, UTC, or with the offset of `timezone`. */
  time: string
  /** Temperature of the water, in °C. `null` where there is none. */
  water_temperature: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
  /** `direction` as text, one of 16 points of the compass. `null` where there is none. */
  direction_compass: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Unit of the heights. */
  unit: 'm'
  /** Energy of one wave of this height and period, in kJ per metre of crest. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π. `null` where there is none. */
  energy_per_wave: number | null
  /** The buoy that measured it. */
  buoy_id: number
  /** With `include=peak_period`: period at the peak of the spectrum, in s. `null` where there is none. */
  peak_period?: number | null
  /** With `include=wind`: speed of the wind, in km/h. `null` where there is none. */
  wind_speed?: number | null
  /** With `include=wind`: direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_direction?: number | null
  /** With `include=wind`: speed of gusts, in km/h. `null` where there is none. */
  gust_speed?: number | null
  /** With `include=swell`: significant height of the swell, in m. `null` where there is none. */
  swell_height?: number | null
  /** With `include=swell`: period of the swell, in s. `null` where there is none. */
  swell_period?: number | null
  /** With `include=swell`: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. */
  swell_direction?: number | null
  /** With `include=swell`: significant height of the wind sea, in m. `null` where there is none. */
  wind_wave_height?: number | null
  /** With `include=swell`: period of the wind sea, in s. `null` where there is none. */
  wind_wave_period?: number | null
  /** With `include=swell`: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_wave_direction?: number | null
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
}

/** A row of a buoy: a reading, or weather at a time without waves, of which heights are `null`. */
export type RowOfBuoy = {
  /** Identifier of the reading, made of buoy and time. It stays the same in every later snapshot. */
  id: number
  /** UUID of the reading, made of buoy and time. It stays the same in every later snapshot. */
  uuid: string
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. `null` where there is none. */
  significient_height: number | null
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** When the waves were measured, UTC, or with the offset of `timezone`. */
  time: string
  /** Temperature of the water, in °C. `null` where there is none. */
  water_temperature: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
  /** `direction` as text, one of 16 points of the compass. `null` where there is none. */
  direction_compass: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Unit of the heights. */
  unit: 'm'
  /** Energy of one wave of this height and period, in kJ per metre of crest. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π. `null` where there is none. */
  energy_per_wave: number | null
  /** With `include=peak_period`: period at the peak of the spectrum, in s. `null` where there is none. */
  peak_period?: number | null
  /** With `include=wind`: speed of the wind, in km/h. `null` where there is none. */
  wind_speed?: number | null
  /** With `include=wind`: direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_direction?: number | null
  /** With `include=wind`: speed of gusts, in km/h. `null` where there is none. */
  gust_speed?: number | null
  /** With `include=swell`: significant height of the swell, in m. `null` where there is none. */
  swell_height?: number | null
  /** With `include=swell`: period of the swell, in s. `null` where there is none. */
  swell_period?: number | null
  /** With `include=swell`: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. */
  swell_direction?: number | null
  /** With `include=swell`: significant height of the wind sea, in m. `null` where there is none. */
  wind_wave_height?: number | null
  /** With `include=swell`: period of the wind sea, in s. `null` where there is none. */
  wind_wave_period?: number | null
  /** With `include=swell`: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_wave_direction?: number | null
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
}

/** The readings of a bucket, by `aggregation`; directions by their circular mean, in whole degrees. */
export type ReadingBucket = {
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. */
  significient_height: number
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** First second of the bucket, UTC, or with the offset of `timezone`. */
  time: string
  /** Temperature of the water, in °C. `null` where there is none. */
  water_temperature: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
  /** With `timezone`: what its clock shows then, `2026-10-25`, `2026-10` for months, or `2026-10-25 05:00` for hours. */
  label?: string
  /** With `timezone`, where the requested range cuts the bucket. */
  partial?: true
  /** Readings behind the values. */
  sample_count: number
  /** With `include=peak_period`: period at the peak of the spectrum, in s. `null` where there is none. */
  peak_period?: number | null
  /** With `include=wind`: speed of the wind, in km/h. `null` where there is none. */
  wind_speed?: number | null
  /** With `include=wind`: direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_direction?: number | null
  /** With `include=wind`: speed of gusts, in km/h. `null` where there is none. */
  gust_speed?: number | null
  /** With `include=swell`: significant height of the swell, in m. `null` where there is none. */
  swell_height?: number | null
  /** With `include=swell`: period of the swell, in s. `null` where there is none. */
  swell_period?: number | null
  /** With `include=swell`: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. */
  swell_direction?: number | null
  /** With `include=swell`: significant height of the wind sea, in m. `null` where there is none. */
  wind_wave_height?: number | null
  /** With `include=swell`: period of the wind sea, in s. `null` where there is none. */
  wind_wave_period?: number | null
  /** With `include=swell`: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_wave_direction?: number | null
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
  /** In `/readings`: the buoy. */
  buoy_id?: number
}

/** A coastal town. */
export type Place = {
  /** Name of the town. */
  name: string
  /** State, province or region. `null` where there is none. */
  region: string | null
  /** English name of the country. */
  country: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** The nearest three active buoys, however far they are. */
  buoys: NearestBuoy[]
}

/** A buoy with readings on the page. */
export type BuoyOfReadings = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
}

/** The part of a reading that lists and details of buoys contain. */
export type ReadingSummary = {
  /** UUID of the reading, made of buoy and time. It stays the same in every later snapshot. */
  uuid: string
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. */
  significient_height: number
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** When the waves were measured, UTC, or with the offset of `timezone`. */
  time: string
  /** Temperature of the water, in °C. `null` where there is none. */
  water_temperature: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
  /** Unit of the heights. */
  unit: 'm'
  /** With `include=peak_period`: period at the peak of the spectrum, in s. `null` where there is none. */
  peak_period?: number | null
  /** With `include=wind`: speed of the wind, in km/h. `null` where there is none. */
  wind_speed?: number | null
  /** With `include=wind`: direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_direction?: number | null
  /** With `include=wind`: speed of gusts, in km/h. `null` where there is none. */
  gust_speed?: number | null
  /** With `include=swell`: significant height of the swell, in m. `null` where there is none. */
  swell_height?: number | null
  /** With `include=swell`: period of the swell, in s. `null` where there is none. */
  swell_period?: number | null
  /** With `include=swell`: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. */
  swell_direction?: number | null
  /** With `include=swell`: significant height of the wind sea, in m. `null` where there is none. */
  wind_wave_height?: number | null
  /** With `include=swell`: period of the wind sea, in s. `null` where there is none. */
  wind_wave_period?: number | null
  /** With `include=swell`: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_wave_direction?: number | null
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
}

/** A reading and its distance in time from the requested moment. */
export type ClosestReading = {
  /** Identifier of the reading, made of buoy and time. It stays the same in every later snapshot. */
  id: number
  /** UUID of the reading, made of buoy and time. It stays the same in every later snapshot. */
  uuid: string
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. */
  significient_height: number
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** When the waves were measured, UTC, or with the offset of `timezone`. */
  time: string
  /** Temperature of the water, in °C. `null` where there is none. */
  water_temperature: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
  /** `direction` as text, one of 16 points of the compass. `null` where there is none. */
  direction_compass: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Unit of the heights. */
  unit: 'm'
  /** Energy of one wave of this height and period, in kJ per metre of crest. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π. `null` where there is none. */
  energy_per_wave: number | null
  /** Time between the reading and the requested moment, never negative, in minutes. */
  time_diff_minutes: number
  /** With `include=peak_period`: period at the peak of the spectrum, in s. `null` where there is none. */
  peak_period?: number | null
  /** With `include=wind`: speed of the wind, in km/h. `null` where there is none. */
  wind_speed?: number | null
  /** With `include=wind`: direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_direction?: number | null
  /** With `include=wind`: speed of gusts, in km/h. `null` where there is none. */
  gust_speed?: number | null
  /** With `include=swell`: significant height of the swell, in m. `null` where there is none. */
  swell_height?: number | null
  /** With `include=swell`: period of the swell, in s. `null` where there is none. */
  swell_period?: number | null
  /** With `include=swell`: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. */
  swell_direction?: number | null
  /** With `include=swell`: significant height of the wind sea, in m. `null` where there is none. */
  wind_wave_height?: number | null
  /** With `include=swell`: period of the wind sea, in s. `null` where there is none. */
  wind_wave_period?: number | null
  /** With `include=swell`: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. */
  wind_wave_direction?: number | null
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
}

/** A buoy in a list. */
export type Buoy = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** Identifier of the buoy at its source. */
  source_identifier: string
  /** Time of the newest reading, UTC. `null` where there is none. */
  last_reading_time: string | null
  /** Readings of this buoy in the snapshot. */
  readings_count: number
  /** The newest reading; `null` while the buoy has none. */
  last_reading: ReadingSummary | null
  /** IANA name of the time zone at the buoy. */
  timezone: string
}

/** Everything about a buoy. */
export type BuoyDetail = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** Identifier of the buoy at its source. */
  source_identifier: string
  /** Time of the newest reading, UTC. `null` where there is none. */
  last_reading_time: string | null
  /** Readings of this buoy in the snapshot. */
  readings_count: number
  /** The newest reading; `null` while the buoy has none. */
  last_reading: ReadingSummary | null
  /** IANA name of the time zone at the buoy. */
  timezone: string
  /** English name of the country that the buoy belongs to. `null` where there is none. */
  country: string | null
  /** The buoy's IANA time zone again, under a name that some clients expect. */
  dtz: string
  /** With `include=weather`: the newest row without waves; `null` unless it is newer than the last reading or has a value that the reading lacks. */
  last_weather?: {
    /** When it was measured, UTC. */
    time: string
    /** Temperature of the water, in °C. `null` where there is none. */
    water_temperature: number | null
    /** speed of the wind, in km/h. `null` where there is none. */
    wind_speed: number | null
    /** direction the wind comes from, clockwise from north, in degrees. `null` where there is none. */
    wind_direction: number | null
    /** speed of gusts, in km/h. `null` where there is none. */
    gust_speed: number | null
    /** temperature of the air, in °C. `null` where there is none. */
    air_temperature: number | null
    /** dew point, in °C. `null` where there is none. */
    dew_point: number | null
    /** air pressure at sea level, in hPa. `null` where there is none. */
    pressure: number | null
    /** relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
    humidity: number | null
    /** visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
    visibility: number | null
  } | null
  /** With `include=usual`: how usual its last height is; `null` with fewer than three years. */
  usual?: Usual | null
  /** With `include=available`: the fields that the buoy has had, in readings or in series. */
  available?: {
  }
  /** With `include=credit`: the credit line that the data's owner asks for. `null` where there is none. */
  credit?: string | null
  /** With `include=credit`: the licence of the data. `null` where there is none. */
  licence?: string | null
  /** With `include=spectrum`: the newest wave spectrum without its bands; `null` where the buoy has none. */
  spectrum?: NewestSpectrum | null
}

/** A buoy that a search found. */
export type BuoySearchItem = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** Identifier of the buoy at its source. */
  source_identifier: string
  /** English name of the country that the buoy belongs to. `null` where there is none. */
  country: string | null
}

/** A buoy and its distance. */
export type NearestBuoy = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** Identifier of the buoy at its source. */
  source_identifier: string
  /** Great-circle distance from the point, on a sphere of 6371 km, in km. */
  distance_km: number
  /** The newest reading; `null` while the buoy has none. */
  last_reading: ReadingSummary | null
  /** With `include=usual`: how usual its last height is; `null` with fewer than three years. */
  usual?: Usual | null
}

/** A buoy and its newest reading in full. */
export type BuoyLastReading = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** The newest reading; `null` while the buoy has none. */
  last_reading: Reading | null
  /** With `include=spectrum`: the newest wave spectrum without its bands; `null` where the buoy has none. */
  spectrum?: NewestSpectrum | null
  /** With `include=usual`: how usual its last height is; `null` with fewer than three years. */
  usual?: Usual | null
}

/** A buoy on the map. */
export type MapBuoy = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** IANA name of the time zone at the buoy. */
  timezone: string
  /** Name of the network that the data come from. */
  source: string
  /** Time of the newest reading, UTC. `null` where there is none. */
  last_reading_time: string | null
  /** The newest reading; `null` while the buoy has none. */
  last_reading: ReadingSummary | null
  /** A buoy in the water. */
  virtual: false
  /** With `include=usual`: how usual its last height is; `null` with fewer than three years. */
  usual?: Usual | null
}

/** A virtual buoy on the map. */
export type VirtualMapBuoy = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** IANA name of the time zone at the buoy. */
  timezone: string
  /** Name of the network that the data come from. */
  source: string
  /** Time of the newest reading, UTC. `null` where there is none. */
  last_reading_time: string | null
  /** The newest reading; `null` while the buoy has none. */
  last_reading: ReadingSummary | null
  /** A fixed point of the sea that gets its readings from satellite passes. */
  virtual: true
  /** The pass that gave the newest reading. `null` where there is none. */
  pass_id: number | null
  /** Satellite, cycle and pass in short: `s3a-145-687`. `null` where there is none. */
  satellite_pass_id: string | null
  /** Satellite, cycle and pass as agencies write them: `S3A_C145_P0687`. `null` where there is none. */
  external_id: string | null
  /** Label for people: satellite, cycle and pass. `null` where there is none. */
  pass_name: string | null
  /** Name of the satellite. `null` where there is none. */
  pass_platform: string | null
  /** With `include=usual`: how usual its last height is; `null` with fewer than three years. */
  usual?: Usual | null
}

/** The buoy that readings belong to. */
export type BuoySummary = {
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** The buoy's IANA time zone again, under a name that some clients expect. */
  dtz: string
}

/** The buoy that a chart or series belongs to. */
export type IdentifiedBuoySummary = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
  /** Name of the network that the data come from. */
  source: string
  /** The buoy's IANA time zone again, under a name that some clients expect. */
  dtz: string
}

/** The buoy that a reading belongs to. */
export type BuoyName = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
  name: string
}

/** A wave spectrum. Lists are by band: their values belong to `data.frequencies`. */
export type Spectrum = {
  /** When the spectrum was measured, UTC. */
  time: string
  /** The nearest reading within 30 minutes, UTC. `null` where there is none. */
  reading_time: string | null
  /** Significant wave height of the spectrum, 4√m0, in m. */
  hm0: number
  /** Mean period m0/m1, in s. `null` where there is none. */
  tm01: number | null
  /** Mean zero-crossing period √(m0/m2), in s. `null` where there is none. */
  tm02: number | null
  /** Energy period m₋₁/m0, in s. `null` where there is none. */
  te: number | null
  /** Period of the lowest band of greatest density, in s. `null` where there is none. */
  peak_period: number | null
  /** Mean direction of that band that waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction_at_peak: number | null
  /** Directional spread of that band, (180/π)√(2(1−r1)), in degrees. `null` where there is none. */
  spread_at_peak: number | null
  /** Mean direction of all bands, weighted by energy, clockwise from north, in degrees. `null` where there is none. */
  mean_direction: number | null
  /** Directional spread of all bands, (180/π)√(2(1−r1)), in degrees. `null` where there is none. */
  mean_spread: number | null
  /** Power of the waves in deep water, 0.490 hm0² te, in kW per metre of crest. */
  power: number
  /** The wave trains, of most energy first: at most three peaks of the density, parted by a valley below half of the lower peak, each with at least 5 % of the energy. */
  trains: WaveTrain[]
  /** Energy density by band. */
  density: number[]
  /** By band (alpha1). */
  direction: (number | null)[]
  /** By band (alpha2). */
  principal_direction: (number | null)[]
  /** By band. */
  r1: (number | null)[]
  /** By band. */
  r2: (number | null)[]
  /** With `include=directional`: density over directions by band. 5° times the sum of a band is its density. */
  directional_density?: (number[] | null)[]
  /** With `include=directional`: bands whose moments no distribution has. */
  impossible_bands?: number
}

/** A part of the sea around one peak of its spectrum. */
export type WaveTrain = {
  /** Height, 4√m0 of its bands, in m. */
  height: number
  /** Period at its peak, in s. */
  period: number
  /** Mean direction that it comes from, clockwise from north, in degrees. `null` where there is none. */
  direction: number | null
}

/** The newest wave spectrum of a buoy, without its bands. */
export type NewestSpectrum = {
  /** When the spectrum was measured, UTC. */
  time: string
  /** The nearest reading within 30 minutes, UTC. `null` where there is none. */
  reading_time: string | null
  /** Significant wave height of the spectrum, 4√m0, in m. */
  hm0: number
  /** Mean period m0/m1, in s. `null` where there is none. */
  tm01: number | null
  /** Mean zero-crossing period √(m0/m2), in s. `null` where there is none. */
  tm02: number | null
  /** Energy period m₋₁/m0, in s. `null` where there is none. */
  te: number | null
  /** Period of the lowest band of greatest density, in s. `null` where there is none. */
  peak_period: number | null
  /** Mean direction of that band that waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction_at_peak: number | null
  /** Directional spread of that band, (180/π)√(2(1−r1)), in degrees. `null` where there is none. */
  spread_at_peak: number | null
  /** Mean direction of all bands, weighted by energy, clockwise from north, in degrees. `null` where there is none. */
  mean_direction: number | null
  /** Directional spread of all bands, (180/π)√(2(1−r1)), in degrees. `null` where there is none. */
  mean_spread: number | null
  /** Power of the waves in deep water, 0.490 hm0² te, in kW per metre of crest. */
  power: number
}

/** What was searched for. */
export type SearchParameters = {
  /** The requested moment, UTC. */
  target_datetime: string
  /** How far from that moment a reading may be, in hours. */
  tolerance_hours: number
  /** The range that was searched. */
  search_range: {
    /** First moment, UTC. */
    start: string
    /** Last moment, included, UTC. */
    end: string
  }
}

/** What each array of the chart holds. */
export type FieldsOfChart = {
  /** About `significant_height`. */
  significant_height: ChartField
  /** About `maximum_height`. */
  maximum_height: ChartField
  /** About `period`. */
  period: ChartField
  /** About `forecast_wave_height`. */
  forecast_wave_height: ChartField
  /** About `tide_level`. */
  tide_level: ChartField
  /** About `direction`. */
  direction?: ChartField
  /** About `peak_period`. */
  peak_period?: ChartField
  /** About `water_temperature`. */
  water_temperature?: ChartField
  /** About `wind_speed`. */
  wind_speed?: ChartField
  /** About `wind_direction`. */
  wind_direction?: ChartField
  /** About `gust_speed`. */
  gust_speed?: ChartField
  /** About `forecast_wind_speed`. */
  forecast_wind_speed?: ChartField
  /** About `forecast_wind_direction`. */
  forecast_wind_direction?: ChartField
  /** About `forecast_wave_period`. */
  forecast_wave_period?: ChartField
  /** About `forecast_wave_direction`. */
  forecast_wave_direction?: ChartField
  /** About `swell_height`. */
  swell_height?: ChartField
  /** About `swell_period`. */
  swell_period?: ChartField
  /** About `swell_direction`. */
  swell_direction?: ChartField
  /** About `wind_wave_height`. */
  wind_wave_height?: ChartField
  /** About `wind_wave_period`. */
  wind_wave_period?: ChartField
  /** About `wind_wave_direction`. */
  wind_wave_direction?: ChartField
  /** About `air_temperature`. */
  air_temperature?: ChartField
  /** About `dew_point`. */
  dew_point?: ChartField
  /** About `pressure`. */
  pressure?: ChartField
  /** About `humidity`. */
  humidity?: ChartField
  /** About `visibility`. */
  visibility?: ChartField
}

/** What one array holds. */
export type ChartField = {
  /** Label for people. */
  label: string
  /** Unit of the values. */
  unit: string
  /** The field of a reading that the values come from. `null` where there is none. */
  field: string | null
}

/** Parallel arrays over one time axis. */
export type Chart = {
  buoy: IdentifiedBuoySummary
  fields: FieldsOfChart
  /** The time axis that all arrays share, ascending. */
  time: string[]
  /** Significant wave height, in m. The name of this array has this spelling. `null` where there is none. As long as `time`. */
  significant_height: (number | null)[]
  /** Maximum wave height, in m. `null` where there is none. As long as `time`. */
  maximum_height: (number | null)[]
  /** Wave period, in s. `null` where there is none. As long as `time`. */
  period: (number | null)[]
  /** Forecast of the significant wave height, at full hours, in m. `null` where there is none. As long as `time`. */
  forecast_wave_height: (number | null)[]
  /** Water level above the harbour's chart datum, at full hours, in m. `null` where there is none. As long as `time`. */
  tide_level: (number | null)[]
  /** Direction that waves come from, clockwise from north, in degrees. `null` where there is none. As long as `time`. Only with `include=measures`. */
  direction?: (number | null)[]
  /** Peak period, in s. `null` where there is none. As long as `time`. Only with `include=measures`. */
  peak_period?: (number | null)[]
  /** Water temperature, in °C. `null` where there is none. As long as `time`. Only with `include=measures`. */
  water_temperature?: (number | null)[]
  /** Wind speed, in km/h. `null` where there is none. As long as `time`. Only with `include=measures`. */
  wind_speed?: (number | null)[]
  /** Direction that wind comes from, clockwise from north, in degrees. `null` where there is none. As long as `time`. Only with `include=measures`. */
  wind_direction?: (number | null)[]
  /** Speed of gusts, in km/h. `null` where there is none. As long as `time`. Only with `include=measures`. */
  gust_speed?: (number | null)[]
  /** Forecast of the wind speed, at full hours, in km/h. `null` where there is none. As long as `time`. Only with `include=measures`. */
  forecast_wind_speed?: (number | null)[]
  /** Forecast of the direction that wind comes from, at full hours, clockwise from north, in degrees. `null` where there is none. As long as `time`. Only with `include=measures`. */
  forecast_wind_direction?: (number | null)[]
  /** Forecast of the wave period, at full hours, in s. `null` where there is none. As long as `time`. Only with `include=measures`. */
  forecast_wave_period?: (number | null)[]
  /** Forecast of the direction that waves come from, at full hours, clockwise from north, in degrees. `null` where there is none. As long as `time`. Only with `include=measures`. */
  forecast_wave_direction?: (number | null)[]
  /** Of the sea in two parts: significant height of the swell, in m. `null` where there is none. As long as `time`. Only with `include=swell`. */
  swell_height?: (number | null)[]
  /** Of the sea in two parts: period of the swell, in s. `null` where there is none. As long as `time`. Only with `include=swell`. */
  swell_period?: (number | null)[]
  /** Of the sea in two parts: direction the swell comes from, clockwise from north, in degrees. `null` where there is none. As long as `time`. Only with `include=swell`. */
  swell_direction?: (number | null)[]
  /** Of the sea in two parts: significant height of the wind sea, in m. `null` where there is none. As long as `time`. Only with `include=swell`. */
  wind_wave_height?: (number | null)[]
  /** Of the sea in two parts: period of the wind sea, in s. `null` where there is none. As long as `time`. Only with `include=swell`. */
  wind_wave_period?: (number | null)[]
  /** Of the sea in two parts: direction the wind sea comes from, clockwise from north, in degrees. `null` where there is none. As long as `time`. Only with `include=swell`. */
  wind_wave_direction?: (number | null)[]
  /** Of the air: temperature of the air, in °C. `null` where there is none. As long as `time`. Only with `include=weather`. */
  air_temperature?: (number | null)[]
  /** Of the air: dew point, in °C. `null` where there is none. As long as `time`. Only with `include=weather`. */
  dew_point?: (number | null)[]
  /** Of the air: air pressure at sea level, in hPa. `null` where there is none. As long as `time`. Only with `include=weather`. */
  pressure?: (number | null)[]
  /** Of the air: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. As long as `time`. Only with `include=weather`. */
  humidity?: (number | null)[]
  /** Of the air: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. As long as `time`. Only with `include=weather`. */
  visibility?: (number | null)[]
}

/** How the last height compares with those within 15 days of its day of the year in all years, without those of the 60 days before it. */
export type Usual = {
  /** Share of them that are lower, rounded down. */
  higher_than_percent: number
  /** Its place among them, in percent; equal ones count half. */
  percentile: number
  /** Their median, in m. */
  median: number
  /** Their quantile of 90 %, in m. */
  p90: number
  /** Years with at least half of the readings that are expected then; three at least. */
  years: number
  /** Year (UTC). */
  first_year: number
  /** The last earlier reading that is at least as high, UTC. `null` where there is none. */
  highest_since: string | null
  /** Days (UTC) without a reading since then, or since the first one. */
  highest_since_missing_days: number
}

/** A value and when it was measured. */
export type ClimateValue = {
  /** In the unit of the answer. */
  value: number
  /** When it was measured, UTC. */
  time: string
}

/** Suspect readings that are left out, by reason. */
export type ClimateLeftOut = {
  /** Heights that leave both neighbours by a metre and half. */
  spike: number
  /** Readings with the same wave values for six hours and more. */
  stuck: number
  /** Heights of at most 0.05 m for seven days and more. */
  dead: number
}

/** A month or season of the year, or all of it. */
export type ClimatePeriod = {
  /** With `by=month`. */
  month?: number
  /** With `by=season`. */
  season?: 'djf' | 'mam' | 'jja' | 'son'
  /** Samples in all years. */
  count: number
  /** Share of the expected samples. `null` where there is none. */
  coverage: number | null
  /** Years that count. */
  years: number[]
  /** Years with samples before and after that do not count. */
  years_left_out: {
    /** Year (UTC). */
    year: number
    /** What it lacks. */
    reason: 'coverage' | 'gap' | 'months'
    /** Share of its expected samples. `null` where there is none. */
    coverage: number | null
  }[]
  /** More than one where years differ. */
  intervals: {
    /** The usual interval, in minutes. */
    minutes: number
    /** Years with months of this interval. */
    years: number[]
  }[]
  /** Mean of the years that count, of a direction the circular mean of all samples, in the unit of the answer. `null` where there is none. */
  mean: number | null
  /** Of all samples, around their own mean, of n − 1, in the unit of the answer. `null` where there is none. */
  standard_deviation?: number | null
  /** Quantile of 1 %, in the unit of the answer. `null` where there is none. */
  p1?: number | null
  /** Quantile of 5 %, in the unit of the answer. `null` where there is none. */
  p5?: number | null
  /** Quantile of 10 %, in the unit of the answer. `null` where there is none. */
  p10?: number | null
  /** Quantile of 25 %, in the unit of the answer. `null` where there is none. */
  p25?: number | null
  /** Quantile of 50 %, in the unit of the answer. `null` where there is none. */
  p50?: number | null
  /** Quantile of 75 %, in the unit of the answer. `null` where there is none. */
  p75?: number | null
  /** Quantile of 90 %, in the unit of the answer. `null` where there is none. */
  p90?: number | null
  /** Quantile of 95 %, in the unit of the answer. `null` where there is none. */
  p95?: number | null
  /** Quantile of 99 %, in the unit of the answer. `null` where there is none. */
  p99?: number | null
  /** The least sample, the earliest of equal ones. */
  minimum?: ClimateValue | null
  /** The greatest sample, the earliest of equal ones. */
  maximum?: ClimateValue | null
  /** Of a direction: length of the mean vector. `null` where there is none. */
  resultant_length?: number | null
  /** Of a direction: 16 sectors, the first around north. */
  sectors?: {
    /** Its middle, one of 16 points of the compass. */
    direction: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW'
    /** Share of the samples. `null` where there is none. */
    share: number | null
  }[]
}

/** A greatest or least value, with the samples before and after it. */
export type ClimateRecord = {
  /** The value, in the unit of the answer. */
  value: number
  /** When it was measured, UTC. */
  time: string
  /** Whether it stands alone. */
  doubtful: boolean
  /** The sample before it. */
  before: ClimateValue | null
  /** The sample after it. */
  after: ClimateValue | null
}

/** Greatest and least values. */
export type ClimateRecords = {
  /** Of a month of the year. */
  month?: number
  /** Year (UTC). */
  year?: number
  greatest: ClimateRecord
  least: ClimateRecord
}

/** The last sample among those of its month in all years. */
export type ClimateLast = {
  /** The value, in the unit of the answer. */
  value: number
  /** When it was measured, UTC. */
  time: string
  /** 1 is the highest. */
  rank: number
  /** Samples of its month. */
  of: number
  /** Share of them that are lower, rounded down. */
  higher_than_percent: number
  /** The last earlier sample that is at least as high, UTC. `null` where there is none. */
  highest_since: string | null
  /** Days (UTC) without a sample since then, or since the first one. */
  highest_since_missing_days: number
}

/** Heights by another metric. */
export type ClimateBin = {
  /** Lower edge of a period, middle of a sector of directions, or a month. */
  x: number
  /** Lower edge of the heights, in m. */
  y: number
  /** Readings in the bin. */
  count: number
  /** Share of all that are in bins. */
  share: number
}

/** A run of heights above the threshold. */
export type Storm = {
  /** First reading above the threshold, UTC. */
  start: string
  /** Last reading above the threshold, UTC. */
  end: string
  /** From start to end, and one usual interval, in hours. */
  duration: number
  /** The highest reading. */
  peak: {
    /** Height, in m. */
    height: number
    /** When it was measured, UTC. */
    time: string
    /** Peak period, or else the period, in s. `null` where there is none. */
    period: number | null
    /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
    direction: number | null
  }
  /** Sum of the squares of the heights, times the usual interval, in m²h. */
  energy: number
  /** Time without readings within it, in hours. */
  missing_hours: number
  /** Whether it may have been longer. */
  cut: boolean
}

/** What is exceeded once in a number of years on average. */
export type ReturnLevel = {
  /** The return period, in years. */
  return_period: number
  /** The level, in the unit of the answer. */
  level: number
  /** Lower end of its 95 % interval, in the unit of the answer. `null` where there is none. */
  low: number | null
  /** Upper end of its 95 % interval, in the unit of the answer. `null` where there is none. */
  high: number | null
  /** Whether the period is above four times the years. */
  extrapolated: boolean
}

/** Parameters of the distribution, or their standard errors. */
export type GevParameters = {
  /** Location, in the unit of the answer. */
  location: number
  /** Scale, in the unit of the answer. */
  scale: number
  /** Shape ξ of Coles: positive for a heavy tail. */
  shape: number
}

/** The season that is compared. A season over New Year belongs to the year in which it starts. */
export type Season = {
  /** First day. */
  start: {
    /** Month. */
    month: number
    /** Day of the month. */
    day: number
  }
  /** Last day, included. */
  end: {
    /** Month. */
    month: number
    /** Day of the month. */
    day: number
  }
}

/** One bucket of one year. */
export type SeriesPoint = {
  /** Number of the bucket in its season, from 1. A bucket without a sample is left out, and the others keep their numbers. With buckets of a day, 29 February has a number in every year: equal numbers are equal calendar days. */
  bucket_index: number
  /** `Apr 01`; for hours `Apr 01 05:00`; for weeks their first day. */
  label: string
  /** First second of the bucket, with the offset of the series' time zone. */
  bucket_start: string
  /** Last second of the bucket, with the offset of the series' time zone. */
  bucket_end: string
  /** The aggregated metric in its unit (m, s, degrees, °C or km/h), with two decimals. Directions are whole degrees, or `null` where they cancel out. */
  value: number | null
  /** Samples behind the value. */
  sample_count: number
}

/** One season. Every requested year has one, with or without data. */
export type SeriesYear = {
  /** The year in which the season starts. */
  year: number
  /** Whether the last day of the season is over at the snapshot's time. */
  complete: boolean
  /** Length of `points`. */
  point_count: number
  /** Buckets with samples, ascending. */
  points: SeriesPoint[]
}

/** A satellite that measures waves with an altimeter. */
export type SatelliteMission = {
  /** Identifier of the mission: a value of the parameter `mission`. */
  slug: string
  /** Name of the mission. */
  name: string
  /** Agencies that operate the mission. */
  agency: string
  /** The altimeter. */
  instrument: string
  /** Description of the mission, in English or French. */
  description: string
  /** Address of a picture: a path from the root of this server, such as `/missions/saral.svg`, unless its operator has others. */
  image_url: string
  /** Passes in the snapshot. */
  pass_count: number
}

/** The mission that a pass belongs to. */
export type MissionName = {
  /** Identifier of the mission: a value of the parameter `mission`. */
  slug: string
  /** Name of the mission. */
  name: string
}

/** A box of latitudes and longitudes. */
export type Bounds = {
  /** Latitude of the southern edge, in degrees. */
  south: number
  /** Longitude of the western edge, in degrees. It is greater than `east` if the box crosses the antimeridian. */
  west: number
  /** Latitude of the northern edge, in degrees. */
  north: number
  /** Longitude of the eastern edge, in degrees. */
  east: number
}

/** One crossing of a satellite over virtual buoys. */
export type SatellitePass = {
  /** Identifier of the pass; it never changes. */
  id: number
  /** Label for people: satellite, cycle and pass. */
  name: string
  /** Satellite, cycle and pass as agencies write them: `S3A_C145_P0687`. */
  external_id: string
  /** Satellite, cycle and pass in short: `s3a-145-687`. */
  satellite_pass_id: string
  /** Name of the satellite. */
  platform: string
  mission: MissionName
  /** First observation, UTC. */
  started_at: string
  /** Last observation, UTC. */
  ended_at: string
  /** Virtual buoys that have a reading of this pass. */
  buoy_count: number
  /** Readings of this pass. */
  observation_count: number
  bounds: Bounds
}

/** The requested point. */
export type Location = {
  /** Latitude as it was sent, in degrees. */
  lat: number
  /** Longitude as it was sent, in degrees. */
  lng: number
  /** IANA name of the time zone there. */
  timezone: string
}

/** Forecast of the nearest forecast point within 50 km, interpolated in time. All fields are `null` without one. */
export type Forecast = {
  /** Significant wave height, in m. `null` where there is none. */
  waves_height: number | null
  /** Wave period, in s. `null` where there is none. */
  waves_period: number | null
  /** Direction the waves come from, one of 16 points of the compass. `null` where there is none. */
  waves_direction: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Wind speed, in km/h. `null` where there is none. */
  wind_speed: number | null
  /** Direction the wind comes from, one of 16 points of the compass. `null` where there is none. */
  wind_direction: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Height of the swell, in m. `null` where there is none. */
  swell_height: number | null
  /** Period of the swell, in s. `null` where there is none. */
  swell_period: number | null
  /** Direction the swell comes from, one of 16 points of the compass. `null` where there is none. */
  swell_direction: 'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW' | null
  /** Energy of one wave of `waves_height` and `waves_period`, in kJ per metre of crest. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π. `null` where there is none. */
  wave_energy: number | null
}

/** The reading closest to `time` of the nearest buoy in the water, at most 50 km away, that has one within 3 hours; if none has, of the nearest that has one within 24 hours. */
export type ConditionsReading = {
  /** A reading was found. */
  exists: true
  /** Significant wave height, in m. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling. */
  significient_height: number
  /** Maximum wave height, in m. It is measured, never estimated. `null` where there is none. */
  maximum_height: number | null
  /** Direction the waves come from, clockwise from north, in degrees. `null` where there is none. */
  direction_degrees: number | null
  /** Significant wave period (Candhis: TH13D), in s. The dominant or peak period where a network has no other. `null` where there is none. */
  period: number | null
  /** When the waves were measured, UTC, or with the offset of `timezone`. */
  time: string
  /** Energy of one wave of this height and period, in kJ per metre of crest. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π. `null` where there is none. */
  wave_energy: number | null
  /** The buoy that measured it. */
  buoy: {
    /** Identifier of the buoy; it never changes. */
    id: number
    /** Name of the buoy. It is plain text from the source: escape it before it becomes HTML. */
    name: string
    /** Distance of the buoy from the point, in km. */
    distance_km: number
  }
  /** With `include=weather`: temperature of the air, in °C. `null` where there is none. */
  air_temperature?: number | null
  /** With `include=weather`: dew point, in °C. `null` where there is none. */
  dew_point?: number | null
  /** With `include=weather`: air pressure at sea level, in hPa. `null` where there is none. */
  pressure?: number | null
  /** With `include=weather`: relative humidity; sensors exceed 100 in fog, in %. `null` where there is none. */
  humidity?: number | null
  /** With `include=weather`: visibility, in km. Sensors of many buoys end at 2.96. `null` where there is none. */
  visibility?: number | null
  /** With `include=usual`: how usual its last height is; `null` with fewer than three years. */
  usual?: Usual | null
}

/** No reading was found. */
export type NoConditionsReading = {
  /** No buoy that is near enough has a reading of that time. */
  exists: false
}

/** Tide of the nearest harbour within 100 km, predicted from its harmonic constituents. All fields are `null` without one. */
export type Tide = {
  /** Water level above the harbour's chart datum, in m. `null` where there is none. */
  height: number | null
  /** The requested moment, UTC. `null` where there is none. */
  time: string | null
  /** Whether the water rises or falls. `null` where there is none. */
  direction: 'rising' | 'falling' | null
  /** Time until the next high or low water, in s. `null` where there is none. */
  seconds_to_next_tide_change: number | null
  /** The next extreme: high or low water. `null` where there is none. */
  next_tide: 'high' | 'low' | null
  /** Water level at the next high or low water, in m. `null` where there is none. */
  next_tide_height: number | null
  /** Name of the harbour. `null` where there is none. */
  harbor: string | null
}

/** Age and source of the parts. */
export type ConditionsMetadata = {
  /** Run of the forecast model, UTC. `null` where there is none. */
  forecast_updated_at: string | null
  /** Requested time minus time of the reading, in minutes. It is negative if the reading is later. `null` where there is none. */
  reading_age_minutes: number | null
  /** Source of the harbour's constituents, with the credit that its licence requires. `null` where there is none. */
  tide_source: string | null
  /** With `include=model`: the model of the forecast, or else its service. `null` where there is none. */
  forecast_model?: string | null
  /** With `include=model`: the credit line that the forecast's owner asks for. `null` where there is none. */
  forecast_credit?: string | null
}

/** Parallel hourly arrays of one place. Values are `null`, and `tides` is empty, where nothing is in reach. */
export type PlaceForecast = {
  location: Location
  /** The hours, ascending. */
  time: string[]
  /** One value for each hour of `time`. */
  waves_height: (number | null)[]
  /** One value for each hour of `time`. */
  waves_period: (number | null)[]
  /** One value for each hour of `time`. */
  waves_direction: (number | null)[]
  /** One value for each hour of `time`. */
  swell_height: (number | null)[]
  /** One value for each hour of `time`. */
  swell_period: (number | null)[]
  /** One value for each hour of `time`. */
  swell_direction: (number | null)[]
  /** One value for each hour of `time`. */
  wind_speed: (number | null)[]
  /** One value for each hour of `time`. */
  wind_direction: (number | null)[]
  /** One value for each hour of `time`. */
  tide_level: (number | null)[]
  /** High and low waters from the first hour to the last. */
  tides: TideExtreme[]
  metadata: PlaceForecastMetadata
}

/** A high or low water. */
export type TideExtreme = {
  /** Moment of the extreme, UTC. */
  time: string
  /** High or low water. */
  type: 'high' | 'low'
  /** Water level above the harbour's chart datum, in m. */
  height: number
}

/** A high or low water, as tide tables have it. */
export type LocalTideExtreme = {
  /** Moment of the extreme, with the offset of `timezone`. */
  time: string
  /** High or low water. */
  type: 'high' | 'low'
  /** Water level above the harbour's chart datum, in m. */
  height: number
}

/** A harbour of which the tide is known. */
export type Harbour = {
  /** Name of the harbour. */
  name: string
  /** Distance of the harbour, in km. */
  distance_km: number
}

/** Where the parts come from. */
export type PlaceForecastMetadata = {
  /** Run of the forecast model, UTC. `null` where there is none. */
  forecast_updated_at: string | null
  /** The model of the forecast, or else its service. `null` where there is none. */
  forecast_model: string | null
  /** The credit line that the forecast's owner asks for. `null` where there is none. */
  forecast_credit: string | null
  /** Distance of the forecast point, in km. `null` where there is none. */
  forecast_distance_km: number | null
  /** Source of the harbour's constituents, with the credit that its licence requires. `null` where there is none. */
  tide_source: string | null
  /** Name of the harbour. `null` where there is none. */
  harbor: string | null
  /** Distance of the harbour, in km. `null` where there is none. */
  harbor_distance_km: number | null
}

/** Units of the answer. */
export type UnitsOfConditions = {
  /** Unit of heights. */
  height: 'm'
  /** Unit of speeds. */
  speed: 'km/h'
}

/** The named place of `spot_id`. */
export type Spot = {
  /** Identifier of the spot. */
  id: number
  /** Name of the spot. */
  name: string
  /** Latitude, in degrees. */
  lat: number
  /** Longitude, in degrees. */
  lng: number
}

/** Forecast, reading and tide of one point and time. */
export type Conditions = {
  location: Location
  forecast: Forecast
  /** The nearest reading. `exists` says whether one was found. */
  reading: ConditionsReading | NoConditionsReading
  tide: Tide
  metadata: ConditionsMetadata
  units: UnitsOfConditions
  /** Only with `spot_id`. */
  spot?: Spot
  /** Only with `spot_id`. */
  nearby?: {
    /** Up to five active buoys within 150 km of the spot, nearest first. */
    buoys: NearestBuoy[]
  }
}

/** A country that has active buoys. */
export type Country = {
  /** ISO 3166-1 alpha-2 code: a value of the parameter `country`. */
  code: string
  /** English name. */
  name: string
  /** Active buoys. */
  buoy_count: number
}

/** A buoy that differs. */
export type ChangedBuoy = {
  /** Identifier of the buoy; it never changes. */
  id: number
  /** Readable identifier, for use in paths like the `id`; it never changes. */
  slug: string
  /** What happened to it: new, changed itself or in its readings, or gone. */
  change: 'added' | 'changed' | 'removed'
  /** Its readings that differ, by months. */
  readings: ChangedSpan[]
}

/** Readings of a buoy that differ, in one month. */
export type ChangedSpan = {
  /** The first reading that differs, UTC. */
  from: string
  /** The last reading that differs, UTC. */
  to: string
  /** Readings that are new. */
  added: number
  /** Readings with other values. */
  changed: number
  /** Readings that are gone. */
  removed: number
}

/** A file of readings of a network in a year or month, or of all buoys. */
export type BulkFile = {
  /** Its path below `address`. */
  path: string
  /** What is in it. */
  kind: 'readings' | 'buoys'
  /** How it is written. */
  format: 'parquet'
  /** Name of the network of the readings. All buoys have none: `null` where there is none. */
  source: string | null
  /** Year of the readings (UTC). `null` where there is none. */
  year: number | null
  /** Month of the readings (UTC), such as `2026-03`. A year that is over has one file, without a month. `null` where there is none. */
  month: string | null
  /** Rows in it. */
  rows: number
  /** Its length. */
  bytes: number
  /** SHA-256 of its bytes, in hexadecimal. */
  sha256: string
  /** Time of the first reading, UTC. `null` where there is none. */
  start: string | null
  /** Time of the last reading, UTC. `null` where there is none. */
  end: string | null
  /** The snapshot that it was first exported from: its data have not changed since. */
  snapshot: string
}

/** A network with readings in the files. */
export type BulkSource = {
  /** Name of the network. */
  source: string
  /** The credit line that the owner of the data asks for. `null` where there is none. */
  credit: string | null
  /** Licence of the data. `null` where there is none. */
  licence: string | null
}

/** A reading that differs; one that is gone as it was. */
export type ChangedReading = {
  /** Identifier of the buoy; it never changes. */
  buoy_id: number
  /** What happened to it: new, changed, or gone. */
  change: 'added' | 'changed' | 'removed'
  reading: Reading
}

/** How many differ. */
export type ChangeCounts = {
  /** Those that are new. */
  added: number
  /** Those that differ. */
  changed: number
  /** Those that are gone. */
  removed: number
}

/** The `data` of an event of `/events`. */
export type SnapshotEvent = {
  /** The snapshot that is served now. */
  snapshot: string
  /** The time of the snapshot's data, UTC. */
  as_of: string
  /** The snapshot that the changes are counted from; null where there is none, or the server no longer holds it. */
  since: string | null
  /** How the two differ; null where `since` is. */
  changes: SnapshotChanges | null
  /** With `buoy`: those of these buoys that changed; null where `since` is. */
  ids?: number[] | null
}

/** How much two snapshots differ; with `buoy` the counts are those of these buoys. */
export type SnapshotChanges = {
  buoys: ChangeCounts
  readings: ChangeCounts
  /** Whether the satellite passes differ. */
  passes: boolean
  /** Whether the forecast differs. */
  forecast: boolean
}

/** About the answer. */
export type Meta = {
  /** Time of the answer, UTC. */
  timestamp: string
}

/** The body of every error. */
export type ErrorAnswer = {
  /** The code for programs. Codes never change; messages may. */
  error: 'bad_request' | 'unauthorized' | 'resource_not_found' | 'method_not_allowed' | 'validation_failed' | 'rate_limit_exceeded' | 'internal_error' | 'service_unavailable'
  /** Text for people. It names the parameter, what is wrong with it and what is allowed. */
  message: string
  /** Time of the answer, UTC. */
  timestamp: string
  /** The `X-Request-Id` of the request if that is a UUID, else a new one. */
  request_id: string
  /** More about the error. */
  details?: {
    /** Name of the parameter that is wrong. */
    parameter?: string
    /** Slug of the buoy that was probably meant. */
    did_you_mean?: string
    /** Complete years that there are. */
    complete_years?: number
    /** Complete years that levels need. */
    needed_years?: number
  }
}

/** The body of a 410. */
export type SnapshotGoneAnswer = {
  /** The code for programs. */
  error: 'snapshot_gone'
  /** Text for people. It names the parameter, what is wrong with it and what is allowed. */
  message: string
  /** Time of the answer, UTC. */
  timestamp: string
  /** The `X-Request-Id` of the request if that is a UUID, else a new one. */
  request_id: string
  /** The requested snapshot, and the current one. */
  details: {
    /** Name of the parameter that names the snapshot. */
    parameter: string
    /** The snapshot that is served now. */
    current: string
  }
}

/** Features in WGS 84, longitude first (RFC 7946). The properties are the members of the items, without nesting. */
export type FeatureCollection = {
  /** Says what it is. */
  type: 'FeatureCollection'
  /** One for each item, in the order of the list. */
  features: {
    /** Says what it is. */
    type: 'Feature'
    /** The `id` of the item. */
    id?: number
    /** Where the item is. Of a pass: the virtual buoys that it saw, in their order. */
    geometry: {
      /** A line over the antimeridian is in parts. */
      type: 'Point' | 'LineString' | 'MultiLineString'
      /** Longitude and latitude in degrees, of a line a list of them. */
      coordinates: (number | number[] | number[][])[]
    } | null
    /** The members of the item, nested ones under a name with a dot. */
    properties: { [name: string]: string | number | boolean | null }
  }[]
  /** What the collection is part of. */
  meta: {
    /** The snapshot that the answer comes from. */
    snapshot: string
    /** Items on all pages. */
    count?: number
    /** The page, from 1. */
    page?: number
    /** Items a page. */
    per_page?: number
    /** Pages in all. */
    total_pages?: number
    /** Features in this answer. */
    returned: number
  }
}

/** The body of a 429. */
export type RateLimitAnswer = {
  /** The code for programs. Codes never change; messages may. */
  error: 'bad_request' | 'unauthorized' | 'resource_not_found' | 'method_not_allowed' | 'validation_failed' | 'rate_limit_exceeded' | 'internal_error' | 'service_unavailable'
  /** Text for people. It names the parameter, what is wrong with it and what is allowed. */
  message: string
  /** Time of the answer, UTC. */
  timestamp: string
  /** The `X-Request-Id` of the request if that is a UUID, else a new one. */
  request_id: string
  /** Time until the quota resets, the same as in `Retry-After`, in s. */
  retry_after: number
  /** When the quota resets, UTC. */
  reset_at: string
}

export type ListBuoysAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The buoys of this page. */
  data: {
    /** The buoys of this page. */
    buoys: Buoy[]
    /** Buoys that match, over all pages. */
    count: number
  }
  /** About the answer and its page. */
  meta: {
    /** The requested page. */
    page: number
    /** Items in a page, at most the maximum. */
    per_page: number
    /** Number of pages; 0 for an empty result. */
    total_pages: number
    /** Time of the answer, UTC. */
    timestamp: string
    /** The snapshot of the answer, where the request pins one with `snapshot`. */
    snapshot?: string
  }
}

export type GetBuoyAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The buoy. */
  data: {
    buoy: BuoyDetail
  }
  meta: Meta
}

export type LastReadingsAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The buoys, and the ids without a buoy. */
  data: {
    /** The buoys in the requested order, each once. */
    buoys: BuoyLastReading[]
    /** Processed ids that no buoy has. */
    missing_ids: number[]
  }
  meta: Meta
}

export type SearchBuoysAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The buoys found, best first. */
  data: {
    /** The buoys found, best first. */
    buoys: BuoySearchItem[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type NearestBuoysAnswer = {
  /** Marks a success. */
  status: 'success'
  /** One buoy, or several. */
  data: {
    buoy: NearestBuoy
  } | {
    /** The nearest buoys, nearest first: the answer if `limit` is above 1. */
    buoys: NearestBuoy[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type ListReadingsAnswer = {
  /** Marks a success. */
  status: 'success'
  /** A page of readings. */
  data: {
    buoy: BuoySummary
    /** The readings of this page. */
    readings: Reading[]
    /** Readings, or buckets, that match, over all pages. */
    count: number
    /** With `rows=all`: the rows of this page; `readings` is empty then. */
    rows?: RowOfBuoy[]
    /** With `timezone`: IANA name of the zone of days and times. */
    timezone?: string
    /** With `bucket`: the buckets of this page; `readings` is empty then. */
    buckets?: ReadingBucket[]
  }
  /** About the answer and its page. */
  meta: {
    /** The requested page. */
    page: number
    /** Items in a page, at most the maximum. */
    per_page: number
    /** Number of pages; 0 for an empty result. */
    total_pages: number
    /** The requested range. An open end is the time of the buoy's first or last reading, or `null` if it has no reading. */
    date_range: {
      /** First moment, UTC. `null` where there is none. */
      start: string | null
      /** Last moment, included, UTC. `null` where there is none. */
      end: string | null
    }
    /** Time of the answer, UTC. */
    timestamp: string
    /** The snapshot of the answer, where the request pins one with `snapshot`. */
    snapshot?: string
  }
}

export type ClosestReadingAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The reading and the moment searched for. */
  data: {
    closest_reading: ClosestReading
    search_parameters: SearchParameters
  }
  meta: Meta
}

export type GetReadingAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The reading and its buoy. */
  data: {
    reading: Reading
    buoy: BuoyName
  }
  meta: Meta
}

export type ChartAnswer = {
  /** Marks a success. */
  status: 'success'
  data: Chart
  meta: Meta
}

export type ReadingSeriesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Seasons side by side. */
  data: {
    buoy: IdentifiedBuoySummary
    /** The requested metric. */
    metric: string
    /** Length of the buckets. */
    bucket: 'hour' | 'day' | 'week'
    /** How samples became the value of a bucket. */
    aggregation: 'median' | 'avg' | 'min' | 'max'
    /** IANA name of the time zone of the buckets. */
    timezone: string
    season: Season
    /** The seasons, oldest first. */
    years: SeriesYear[]
    /** Points in all years together. */
    count: number
  }
  meta: Meta
}

export type ClimateAnswer = {
  /** Marks a success. */
  status: 'success'
  /** What is usual. */
  data: {
    buoy: IdentifiedBuoySummary
    /** The requested metric. */
    metric: string
    /** Unit of its values. */
    unit: string
    /** First sample, UTC. `null` where there is none. */
    start: string | null
    /** Last sample, UTC. `null` where there is none. */
    end: string | null
    /** Samples. */
    count: number
    left_out: ClimateLeftOut
    /** The periods. */
    by: 'month' | 'season' | 'none'
    /** Share of its samples that a month of a year needs to count. */
    min_coverage: number
    /** How quantiles are made. */
    quantiles: 'type 7 (Hyndman and Fan 1996)'
    /** The months or seasons of the year. */
    periods: ClimatePeriod[]
    overall: ClimatePeriod
    /** What to know of the numbers. */
    notes: string[]
  }
  meta: Meta
}

export type ClimateRecordsAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Records. */
  data: {
    buoy: IdentifiedBuoySummary
    /** The requested metric. */
    metric: string
    /** Unit of its values. */
    unit: string
    /** First sample, UTC. `null` where there is none. */
    start: string | null
    /** Last sample, UTC. `null` where there is none. */
    end: string | null
    /** Samples. */
    count: number
    left_out: ClimateLeftOut
    /** Of all samples; `null` without one. */
    ever: ClimateRecords | null
    /** Of each month of the year that has samples. */
    months: ClimateRecords[]
    /** Of each year that has samples. */
    years: ClimateRecords[]
    /** How the last sample ranks; `null` without one. */
    last: ClimateLast | null
  }
  meta: Meta
}

export type ClimateTableAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Heights by another metric. */
  data: {
    buoy: IdentifiedBuoySummary
    /** The requested metric. */
    metric: string
    /** Unit of its values. */
    unit: string
    /** First sample, UTC. `null` where there is none. */
    start: string | null
    /** Last sample, UTC. `null` where there is none. */
    end: string | null
    left_out: ClimateLeftOut
    /** What the heights are counted by. */
    x: string
    /** Its unit; a month has none: `null` where there is none. */
    x_unit: string | null
    /** Width of a bin. */
    x_bin: number
    /** The heights. */
    y: string
    /** Width of a bin, in m. */
    y_bin: number
    /** Bins with readings, by `x` and `y`. */
    bins: ClimateBin[]
    /** Readings in all bins. */
    count: number
    /** Readings of heights without an `x`. */
    without_x: number
  }
  meta: Meta
}

export type ClimateStormsAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Storms. */
  data: {
    buoy: IdentifiedBuoySummary
    /** The requested metric. */
    metric: string
    /** Unit of its values. */
    unit: string
    /** First sample, UTC. `null` where there is none. */
    start: string | null
    /** Last sample, UTC. `null` where there is none. */
    end: string | null
    left_out: ClimateLeftOut
    /** The threshold, not rounded, in m. `null` where there is none. */
    threshold: number | null
    /** How quantiles are made. */
    quantiles: 'type 7 (Hyndman and Fan 1996)'
    /** Longest gap within a storm, in hours. */
    gap_hours: number
    /** The storms of this page, oldest first. */
    storms: Storm[]
    /** Storms on all pages. */
    count: number
  }
  /** About the answer and its page. */
  meta: {
    /** The requested page. */
    page: number
    /** Items in a page, at most the maximum. */
    per_page: number
    /** Number of pages; 0 for an empty result. */
    total_pages: number
    /** Time of the answer, UTC. */
    timestamp: string
    /** The snapshot of the answer, where the request pins one with `snapshot`. */
    snapshot?: string
  }
}

export type ClimateExtremesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Return levels. */
  data: {
    buoy: IdentifiedBuoySummary
    /** The requested metric. */
    metric: string
    /** Unit of its values. */
    unit: string
    /** First sample, UTC. `null` where there is none. */
    start: string | null
    /** Last sample, UTC. `null` where there is none. */
    end: string | null
    /** Samples. */
    count: number
    left_out: ClimateLeftOut
    /** Which years count. */
    rule: string
    /** Month in which a year begins. */
    year_start: number
    /** The levels, in the order that was asked for. */
    levels: ReturnLevel[]
    /** The fitted distribution. */
    parameters: {
      /** Location, in the unit of the answer. */
      location: number
      /** Scale, in the unit of the answer. */
      scale: number
      /** Shape ξ of Coles: positive for a heavy tail. */
      shape: number
      /** Standard errors; `null` where the shape is at its bound. */
      errors: GevParameters | null
    }
    /** Of the maxima. */
    negative_log_likelihood: number
    /** The maxima that the distribution is fitted to. */
    maxima: {
      /** Year (UTC). */
      year: number
      /** The maximum, in the unit of the answer. */
      value: number
      /** When it was measured, UTC. */
      time: string
    }[]
    /** The other years. */
    years_left_out: {
      /** Year (UTC). */
      year: number
      /** What it lacks. */
      reason: 'coverage' | 'quarter'
      /** Share of its expected samples. */
      coverage: number
      /** Its maximum all the same, in the unit of the answer. `null` where there is none. */
      maximum: number | null
      /** When that was measured, UTC. `null` where there is none. */
      time: string | null
    }[]
    /** What to know of the numbers. */
    notes: string[]
  }
  meta: Meta
}

export type ListSatellitesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The missions. */
  data: {
    /** The missions. */
    satellites: SatelliteMission[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type ListSatellitePassesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The passes, newest first by `started_at`. */
  data: {
    /** The passes, newest first by `started_at`. */
    satellite_passes: SatellitePass[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type ConditionsAnswer = {
  /** Marks a success. */
  status: 'success'
  data: Conditions
  meta: Meta
}

export type ListCountriesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The countries, by name. */
  data: {
    /** The countries, by name. */
    countries: Country[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type MapBuoysAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Everything a map draws. */
  data: {
    /** All active buoys. `virtual` separates buoys in the water from virtual ones. */
    buoys: (MapBuoy | VirtualMapBuoy)[]
    /** All buoys of the answer. */
    count: number
    /** Buoys in the water among them. */
    real_count: number
    /** Virtual buoys among them. */
    virtual_count: number
    /** By source and field: the most decimals in the newest 48 readings of the buoys of the source. JSON leaves closing zeros out, so a single number does not tell them. */
    decimals: { [name: string]: { [name: string]: number } }
  }
  meta: Meta
}

export type ForecastAnswer = {
  /** Marks a success. */
  status: 'success'
  data: PlaceForecast
  meta: Meta
}

export type ReadingsOfBuoysAnswer = {
  /** Marks a success. */
  status: 'success'
  /** A page of readings of many buoys. */
  data: {
    /** The buoys of the readings on this page. */
    buoys: BuoyOfReadings[]
    /** The readings of this page, by buoy id, then time. */
    readings: ReadingOfBuoy[]
    /** Readings, or buckets, that match, over all pages. */
    count: number
    /** Requested ids that no buoy has. */
    missing_ids: number[]
    /** With `timezone`: IANA name of the zone of days and times. */
    timezone?: string
    /** With `bucket`: the buckets of this page; `readings` is empty then. */
    buckets?: ReadingBucket[]
  }
  /** About the answer and its page. */
  meta: {
    /** The requested page. */
    page: number
    /** Items in a page, at most the maximum. */
    per_page: number
    /** Number of pages; 0 for an empty result. */
    total_pages: number
    /** The requested range. */
    date_range: {
      /** First moment, UTC. */
      start: string
      /** Last moment, included, UTC. */
      end: string
    }
    /** Time of the answer, UTC. */
    timestamp: string
    /** The snapshot of the answer, where the request pins one with `snapshot`. */
    snapshot?: string
  }
}

export type SearchPlacesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** Places that the text names in full, then others; of each the larger ones first, where a buoy within 150 km counts as eight times the people. */
  data: {
    /** Places that the text names in full, then others; of each the larger ones first, where a buoy within 150 km counts as eight times the people. */
    places: Place[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type ListChangesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** What differs. */
  data: {
    /** The snapshot that is compared with. */
    since: string
    /** The snapshot that the answer is of: ask since this one next time. */
    until: string
    /** All buoys that differ, by id; with readings on the first page alone. */
    buoys: ChangedBuoy[]
    /** Whether the satellite passes differ. */
    passes: boolean
    /** Whether the forecast differs. */
    forecast: boolean
    /** With `include=readings`: the readings of this page. */
    readings?: ChangedReading[]
    /** With `include=readings`: readings that differ, over all pages. */
    count?: number
  }
  /** About the answer, and with readings its page. */
  meta: {
    /** Time of the answer, UTC. */
    timestamp: string
    /** The requested page. */
    page?: number
    /** Items in a page, at most the maximum. */
    per_page?: number
    /** Number of pages; 0 for an empty result. */
    total_pages?: number
    /** The snapshot of the answer, where the request pins one with `snapshot`. */
    snapshot?: string
  }
}

export type ListFilesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** The files that the snapshot was exported as. */
  data: {
    /** The bucket that the files are in. `null` where there is none. */
    address: string | null
    /** The snapshot that the files are made from. `null` where there is none. */
    snapshot: string | null
    /** Time of the data, UTC. `null` where there is none. */
    as_of: string | null
    /** Whose data they are: pass the credit on with them. */
    sources: BulkSource[]
    /** The files; empty where nothing is exported. */
    files: BulkFile[]
    /** Items in the answer. */
    count: number
  }
  meta: Meta
}

export type TidesAnswer = {
  /** Marks a success. */
  status: 'success'
  /** High and low waters of the nearest harbour within 100 km, by days of a clock. */
  data: {
    location: Location
    /** IANA name of the zone of days and times. */
    timezone: string
    /** The first day. */
    start: string
    /** Days of the table. */
    days: number
    /** The high and low waters; empty without a harbour in reach. */
    tides: LocalTideExtreme[]
    /** Items in the answer. */
    count: number
    /** Turns of the water in that time that are no high or low water: it moved by less than 1 cm, or where the tide is small by less than 2 % of its amplitudes. */
    left_out: number
    /** The harbour; `null` where none is in reach. */
    harbor: Harbour | null
    /** Source of the harbour's constituents, with the credit that its licence requires. `null` where there is none. */
    source: string | null
    /** What heights are above. `null` where there is none. */
    datum: 'chart datum' | null
  }
  meta: Meta
}

export type ListSpectraAnswer = {
  /** Marks a success. */
  status: 'success'
  /** A page of wave spectra with the same bands. */
  data: {
    buoy: BuoySummary
    /** The bands, lowest first. */
    frequencies: number[]
    /** By band. */
    bandwidths: number[]
    /** What directions mean. */
    direction_convention: 'from, degrees true'
    /** The spectra of this page. */
    spectra: Spectrum[]
    /** Spectra of the range that are left out, since their bands are not those of its newest one. */
    other_bands: number
    /** Spectra that match, over all pages. */
    count: number
    /** With `include=directional`: how the density over directions is estimated. */
    method?: string
    /** With `include=directional`: it is an estimate. */
    estimate?: true
    /** With `include=directional`: the directions. */
    directions?: number[]
  }
  /** About the answer and its page. */
  meta: {
    /** The requested page. */
    page: number
    /** Items in a page, at most the maximum. */
    per_page: number
    /** Number of pages; 0 for an empty result. */
    total_pages: number
    /** Time of the answer, UTC. */
    timestamp: string
    /** The snapshot of the answer, where the request pins one with `snapshot`. */
    snapshot?: string
  }
}

/** Parameters of `listBuoys`. */
export type ListBuoysParameters = {
  /** Only buoys in this box, as JSON object text with numeric north, south, east and west. West greater than east crosses the antimeridian. Allowed: a JSON object with numbers north, south, east and west, south not above north. */
  bounds?: {
    north: number
    south: number
    east: number
    west: number
  } | string
  /** The same box as `west,south,east,north` in decimal degrees (OGC, GeoJSON), instead of `bounds`. Allowed: west,south,east,north in decimal degrees, south not above north. */
  bbox?: number[]
  /** Only buoys within `radius` of this point, nearest first. Allowed: lat,lng in decimal degrees, latitude from -90 to 90, longitude from -180 to 180. */
  near?: string
  /** Kilometres around `near`; ignored without it. Allowed: an integer from 1 to 20100. Default: 100. */
  radius?: number
  /** Only buoys of this source: its name or a common alias (`NOAA/NDBC` is `NDBC`), ignoring case, accents, spaces and hyphens. Unknown: 400. Allowed: text of 1 to 100 characters without control characters. */
  source?: string
  /** Only buoys of this country. Allowed: an ISO 3166-1 alpha-2 code in capitals. */
  country?: string
  /** Only buoys with a value of each of these in their last reading, separated by commas; `spectrum`: with wave spectra. Allowed: one or more of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, swell_height, swell_period, swell_direction, wind_wave_height, wind_wave_period, wind_wave_direction, air_temperature, dew_point, pressure, humidity, visibility, spectrum, separated by commas. */
  has?: string
  /** Only buoys with a last reading no older than this at the snapshot's time: seconds, or `15m`, `2h`, `7d`. Allowed: seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits. */
  max_age?: string
  /** Only buoys with a recent reading. Allowed: true, false, 1 or 0, in any case. Default: true. */
  active_only?: boolean
  /** More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`. Allowed: one or more of wind, peak_period, swell, weather, separated by commas. */
  include?: string
  /** Page, from 1. Allowed: an integer from 1 to 2147483647. Default: 1. */
  page?: number
  /** Buoys a page: default 50, with `country` 500; more than 500 is taken as 500. Allowed: an integer of at least 1. */
  per_page?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `getBuoy`. */
export type GetBuoyParameters = {
  /** More members: of the last reading `peak_period`, with `wind` `wind_speed`, `wind_direction` and `gust_speed`, with `swell` height, period and direction of the swell and of the wind sea, with `weather` air temperature, dew point, pressure, humidity and visibility; of the buoy with `weather` `last_weather`, its newest row without waves, where that is newer than the last reading or has a value that it lacks; `available`, the fields that it has had, each with the times of its first and last value; with `credit` its `credit` and `licence`, with `spectrum` its newest wave spectrum without the bands; with `usual` how its last height compares with those of the same time of the year. Allowed: one or more of wind, peak_period, swell, weather, usual, spectrum, available, credit, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `lastReadings`. */
export type LastReadingsParameters = {
  /** Buoy ids: `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2` or a mixture. Allowed: integers from 1 to 9007199254740991, separated by commas. */
  ids: number[]
  /** Only this many of the ids are processed. Allowed: an integer from 1 to 100. Default: 3. */
  limit?: number
  /** More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`. With `usual` the buoy has how its last height compares with those of the same time of the year, with `spectrum` its newest wave spectrum without the bands. Allowed: one or more of wind, peak_period, swell, weather, usual, spectrum, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `searchBuoys`. */
export type SearchBuoysParameters = {
  /** Matched without case or accents against name, slug and source identifier; looser matches follow: blanks and hyphens left out, `st` for `saint`, a country, one typing error. Allowed: text of 2 to 100 characters without control characters. */
  query: string
  /** Most buoys to answer. Allowed: an integer from 1 to 50. Default: 10. */
  limit?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `nearestBuoys`. */
export type NearestBuoysParameters = {
  /** Latitude, decimal degrees. Allowed: a plain decimal number from -90 to 90. */
  lat: number
  /** Longitude, decimal degrees. Allowed: a plain decimal number from -180 to 180. */
  lng: number
  /** Greatest distance in km. Allowed: a plain decimal number of at least 0. Default: 150. */
  max_distance?: number
  /** Most buoys to answer. Allowed: an integer from 1 to 20. Default: 1. */
  limit?: number
  /** Only buoys with a value of each of these in their last reading, separated by commas; `spectrum`: with wave spectra. Allowed: one or more of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, swell_height, swell_period, swell_direction, wind_wave_height, wind_wave_period, wind_wave_direction, air_temperature, dew_point, pressure, humidity, visibility, spectrum, separated by commas. */
  has?: string
  /** Only buoys with a last reading no older than this at the snapshot's time: seconds, or `15m`, `2h`, `7d`. Allowed: seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits. */
  max_age?: string
  /** More members of last readings, as `peak_period`, `wind` and `swell` add them to readings; with `usual` how the last height compares with those of the same time of the year. Allowed: one or more of wind, peak_period, swell, weather, usual, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listReadings`. */
export type ListReadingsParameters = {
  /** First moment of the range; a date alone is its first second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  start_date?: string
  /** Last moment of the range, included; a date alone is its last second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  end_date?: string
  /** One day, instead of a range. Allowed: a date YYYY-MM-DD of the calendar. */
  date?: string
  /** Unix time in seconds: readings within 90 minutes of it, instead of a range. Allowed: an integer from 0 to 253402300799. */
  timestamp?: number
  /** By time, oldest or newest first. Allowed: one of asc, desc. Default: desc. */
  order?: 'asc' | 'desc'
  /** With `all` also the rows of weather without waves, whose heights are null. Allowed: one of readings, all. Default: readings. */
  rows?: 'readings' | 'all'
  /** Page, from 1. Allowed: an integer from 1 to 2147483647. Default: 1. */
  page?: number
  /** Readings a page; more than 100 is taken as 100. Allowed: an integer of at least 1. Default: 20. */
  per_page?: number
  /** More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`. Allowed: one or more of wind, peak_period, swell, weather, separated by commas. */
  include?: string
  /** Buckets in place of readings: hours, days or months of the clock of `timezone`, or of UTC, those with readings alone. At most ten years of a buoy by day, and a hundred times as many rows in all. Allowed: one of 1h, 3h, 1d, 1mo, hour, day, month. */
  bucket?: '1h' | '3h' | '1d' | '1mo' | 'hour' | 'day' | 'month'
  /** With `bucket`: how values become one. Directions always have their circular mean. Allowed: one of mean, max, min, median, avg. Default: mean. */
  aggregation?: 'mean' | 'max' | 'min' | 'median' | 'avg'
  /** Dates without a time are days of this zone, and so are buckets; times of the answer have its offset. Without it all is UTC. `auto` is the buoy's own. Allowed: an IANA name such as Europe/Paris, or auto. */
  timezone?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `closestReading`. */
export type ClosestReadingParameters = {
  /** Day of the moment, UTC. Allowed: a date YYYY-MM-DD of the calendar. */
  date: string
  /** Time of the moment, UTC. Allowed: a time HH:MM from 00:00 to 23:59. */
  time: string
  /** How far from the moment a reading may lie, both ends included. Allowed: a plain decimal number from 1 to 24. Default: 3. */
  tolerance_hours?: number
  /** More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`. Allowed: one or more of wind, peak_period, swell, weather, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `getReading`. */
export type GetReadingParameters = {
  /** More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`. Allowed: one or more of wind, peak_period, swell, weather, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `chart`. */
export type ChartParameters = {
  /** First moment; default seven days before the snapshot's time. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  start_date?: string
  /** Last moment, included; default three days after the snapshot's time. At most 31 days. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  end_date?: string
  /** More arrays: with `measures` wave direction, peak period, water temperature, wind, and the forecast of wave period, wave direction and wind; with `swell` height, period and direction of the swell and of the wind sea; with `weather` air temperature, dew point, pressure, humidity and visibility. Without it the answer has the usual arrays alone. Allowed: one or more of measures, swell, weather, separated by commas. */
  include?: string
  /** Accepted for older clients; changes nothing. Allowed: true, false, 1 or 0, in any case. Default: false. */
  optimized?: boolean
  /** Accepted for older clients; changes nothing. Allowed: true, false, 1 or 0, in any case. Default: false. */
  debug?: boolean
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `readingSeries`. */
export type ReadingSeriesParameters = {
  /** What to aggregate. Allowed: one of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, air_temperature, dew_point, pressure, humidity, visibility. */
  metric: 'significient_height' | 'maximum_height' | 'period' | 'peak_period' | 'direction' | 'water_temperature' | 'wind_speed' | 'wind_direction' | 'gust_speed' | 'air_temperature' | 'dew_point' | 'pressure' | 'humidity' | 'visibility'
  /** Length of a bucket. Allowed: one of hour, day, week, 1h, 1d. Default: day. */
  bucket?: 'hour' | 'day' | 'week' | '1h' | '1d'
  /** How a bucket becomes a value. Directions have a circular mean for median and avg. Allowed: one of median, avg, min, max, mean. Default: median. */
  aggregation?: 'median' | 'avg' | 'min' | 'max' | 'mean'
  /** First season; default 9 years before the last. Allowed: an integer from 1900 to 2105. */
  start_year?: number
  /** Last season; default the last complete one. Allowed: an integer from 1900 to 2105. */
  end_year?: number
  /** Month the season starts in; default 1. Also accepted as `season_start_month`. Allowed: an integer from 1 to 12. */
  start_month?: number
  /** Day the season starts on; default 1. Also accepted as `season_start_day`. Allowed: an integer from 1 to 31. */
  start_day?: number
  /** Month the season ends in; default 12. Also accepted as `season_end_month`. Allowed: an integer from 1 to 12. */
  end_month?: number
  /** Day the season ends on, included; default the month's last. Also accepted as `season_end_day`. Allowed: an integer from 1 to 31. */
  end_day?: number
  /** IANA zone of days and weeks; default the buoy's. Allowed: an IANA name such as Europe/Paris. */
  timezone?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `climate`. */
export type ClimateParameters = {
  /** What the statistics are of. Allowed: one of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, air_temperature, dew_point, pressure, humidity, visibility. Default: significient_height. */
  metric?: 'significient_height' | 'maximum_height' | 'period' | 'peak_period' | 'direction' | 'water_temperature' | 'wind_speed' | 'wind_direction' | 'gust_speed' | 'air_temperature' | 'dew_point' | 'pressure' | 'humidity' | 'visibility'
  /** First year (UTC); default the first with readings. Allowed: an integer from 1900 to 2105. */
  start_year?: number
  /** Last year (UTC); default the last with readings. Allowed: an integer from 1900 to 2105. */
  end_year?: number
  /** Periods of the year: months, seasons (December belongs to the next year), or none but the whole year. Allowed: one of month, season, none. Default: month. */
  by?: 'month' | 'season' | 'none'
  /** Share of the expected samples that a month of a year needs to count for `mean` and `years`. Allowed: a plain decimal number from 0 to 1. Default: 0.75. */
  min_coverage?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `climateRecords`. */
export type ClimateRecordsParameters = {
  /** What the statistics are of. Allowed: one of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, air_temperature, dew_point, pressure, humidity, visibility. Default: significient_height. */
  metric?: 'significient_height' | 'maximum_height' | 'period' | 'peak_period' | 'direction' | 'water_temperature' | 'wind_speed' | 'wind_direction' | 'gust_speed' | 'air_temperature' | 'dew_point' | 'pressure' | 'humidity' | 'visibility'
  /** First year (UTC); default the first with readings. Allowed: an integer from 1900 to 2105. */
  start_year?: number
  /** Last year (UTC); default the last with readings. Allowed: an integer from 1900 to 2105. */
  end_year?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `climateTable`. */
export type ClimateTableParameters = {
  /** What the heights are counted by. Directions are in 16 sectors. Allowed: one of peak_period, period, direction, month. Default: peak_period. */
  x?: 'peak_period' | 'period' | 'direction' | 'month'
  /** The heights that are counted. Also accepted as `metric`. Allowed: one of significient_height, maximum_height. Default: significient_height. */
  y?: 'significient_height' | 'maximum_height'
  /** First year (UTC); default the first with readings. Allowed: an integer from 1900 to 2105. */
  start_year?: number
  /** Last year (UTC); default the last with readings. Allowed: an integer from 1900 to 2105. */
  end_year?: number
  /** Width of a bin of periods, in seconds, in steps of 0.1; default 1. Allowed: a plain decimal number from 0.1 to 10. */
  x_bin?: number
  /** Width of a bin of heights, in metres, in steps of 0.1. Allowed: a plain decimal number from 0.1 to 5. Default: 0.5. */
  y_bin?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `climateStorms`. */
export type ClimateStormsParameters = {
  /** The heights of storms. Allowed: one of significient_height, maximum_height. Default: significient_height. */
  metric?: 'significient_height' | 'maximum_height'
  /** First year (UTC); default the first with readings. Allowed: an integer from 1900 to 2105. */
  start_year?: number
  /** Last year (UTC); default the last with readings. Allowed: an integer from 1900 to 2105. */
  end_year?: number
  /** A storm is strictly above this: metres, or a quantile of all samples, not rounded. Allowed: metres with up to three decimals, p95 or p99. Default: p95. */
  threshold?: string
  /** Two exceedances with at most this time between them are one storm: seconds, or `15m`, `24h`, `2d`; default 24h, at most 30d. Allowed: seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits. */
  gap?: string
  /** Only storms that last at least this long; as `gap`. Allowed: seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits. */
  min_duration?: string
  /** Page, from 1. Allowed: an integer from 1 to 2147483647. Default: 1. */
  page?: number
  /** Storms a page; more than 1000 is taken as 1000. Allowed: an integer of at least 1. Default: 100. */
  per_page?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `climateExtremes`. */
export type ClimateExtremesParameters = {
  /** What the statistics are of. Allowed: one of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, air_temperature, dew_point, pressure, humidity, visibility. Default: significient_height. */
  metric?: 'significient_height' | 'maximum_height' | 'period' | 'peak_period' | 'direction' | 'water_temperature' | 'wind_speed' | 'wind_direction' | 'gust_speed' | 'air_temperature' | 'dew_point' | 'pressure' | 'humidity' | 'visibility'
  /** First year (UTC); default the first with readings. Allowed: an integer from 1900 to 2105. */
  start_year?: number
  /** Last year (UTC); default the last with readings. Allowed: an integer from 1900 to 2105. */
  end_year?: number
  /** Return periods in years: 1 to 20 of 2 to 10,000, separated by commas. Allowed: integers from 1 to 9007199254740991, separated by commas. Default: 2,5,10,25,50,100. */
  return_periods?: number[]
  /** Share of the expected samples that a year needs. Allowed: a plain decimal number from 0 to 1. Default: 0.75. */
  min_coverage?: number
  /** Month in which a year begins, for winters over New Year: it is named by the year of that month. Allowed: an integer from 1 to 12. Default: 1. */
  year_start?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listSatellites`. */
export type ListSatellitesParameters = {
  /** Language of the descriptions; without it `Accept-Language` decides, else en. Allowed: one of en, fr. */
  locale?: 'en' | 'fr'
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listSatellitePasses`. */
export type ListSatellitePassesParameters = {
  /** Only passes of this mission, a `slug` of `GET /buoys/satellites`. Allowed: text of 1 to 100 characters without control characters. */
  mission?: string
  /** Only passes that gave a virtual buoy a reading inside the active window. Allowed: true, false, 1 or 0, in any case. Default: true. */
  active_only?: boolean
  /** Only passes that started at or after this time; a date is its first second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  since?: string
  /** Most passes to answer. Allowed: an integer from 1 to 100. Default: 20. */
  limit?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `conditions`. */
export type ConditionsParameters = {
  /** Latitude, decimal degrees. Allowed: a plain decimal number from -90 to 90. */
  lat: number
  /** Longitude, decimal degrees. Allowed: a plain decimal number from -180 to 180. */
  lng: number
  /** The requested moment; default now. A date alone is its first second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  time?: string
  /** A named place; adds `spot` and `nearby` to the answer. Allowed: an integer from 1 to 9007199254740991. */
  spot_id?: number
  /** More members: with `model` `forecast_model` and `forecast_credit` of `metadata`, where the forecast comes from; with `weather` air temperature, dew point, pressure, humidity and visibility of `reading`; with `usual` how its height compares with those of the same time of the year, if it is the last reading of its buoy. Allowed: one or more of model, weather, usual, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listCountries`. */
export type ListCountriesParameters = {
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `mapBuoys`. */
export type MapBuoysParameters = {
  /** Only buoys in this box, as JSON object text with numeric north, south, east and west. West greater than east crosses the antimeridian. Allowed: a JSON object with numbers north, south, east and west, south not above north. */
  bounds?: {
    north: number
    south: number
    east: number
    west: number
  } | string
  /** The same box as `west,south,east,north` in decimal degrees (OGC, GeoJSON), instead of `bounds`. Allowed: west,south,east,north in decimal degrees, south not above north. */
  bbox?: number[]
  /** Only buoys with a value of each of these in their last reading, separated by commas; `spectrum`: with wave spectra. Allowed: one or more of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, swell_height, swell_period, swell_direction, wind_wave_height, wind_wave_period, wind_wave_direction, air_temperature, dew_point, pressure, humidity, visibility, spectrum, separated by commas. */
  has?: string
  /** Only buoys with a last reading no older than this at the snapshot's time: seconds, or `15m`, `2h`, `7d`. Allowed: seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits. */
  max_age?: string
  /** Only buoys with a recent reading. Allowed: true, false, 1 or 0, in any case. Default: true. */
  active_only?: boolean
  /** More members of last readings, as `peak_period`, `wind` and `swell` add them to readings; with `usual` how the last height compares with those of the same time of the year. Allowed: one or more of wind, peak_period, swell, weather, usual, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `forecast`. */
export type ForecastParameters = {
  /** Latitude, decimal degrees; with `lng`. Allowed: a plain decimal number from -90 to 90. */
  lat?: number
  /** Longitude, decimal degrees; with `lat`. Allowed: a plain decimal number from -180 to 180. */
  lng?: number
  /** Id or slug of a buoy, in place of `lat` and `lng`. Allowed: text of 1 to 100 characters without control characters. */
  buoy?: string
  /** A named place, in place of `lat` and `lng`. Allowed: an integer from 1 to 9007199254740991. */
  spot_id?: number
  /** First hour; default now. Minutes and seconds do not count. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  start?: string
  /** Hours to answer. Allowed: an integer from 1 to 240. Default: 72. */
  hours?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `readingsOfBuoys`. */
export type ReadingsOfBuoysParameters = {
  /** Only these buoys: `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2`. Allowed: integers from 1 to 9007199254740991, separated by commas. */
  ids?: number[]
  /** Only buoys in this box, as JSON object text with numeric north, south, east and west. West greater than east crosses the antimeridian. Allowed: a JSON object with numbers north, south, east and west, south not above north. */
  bounds?: {
    north: number
    south: number
    east: number
    west: number
  } | string
  /** The same box as `west,south,east,north` in decimal degrees (OGC, GeoJSON), instead of `bounds`. Allowed: west,south,east,north in decimal degrees, south not above north. */
  bbox?: number[]
  /** Only buoys within `radius` of this point, nearest first. Allowed: lat,lng in decimal degrees, latitude from -90 to 90, longitude from -180 to 180. */
  near?: string
  /** Kilometres around `near`; ignored without it. Allowed: an integer from 1 to 20100. Default: 100. */
  radius?: number
  /** Only buoys of this source: its name or a common alias (`NOAA/NDBC` is `NDBC`), ignoring case, accents, spaces and hyphens. Unknown: 400. Allowed: text of 1 to 100 characters without control characters. */
  source?: string
  /** Only buoys of this country. Allowed: an ISO 3166-1 alpha-2 code in capitals. */
  country?: string
  /** Only buoys with a value of each of these in their last reading, separated by commas; `spectrum`: with wave spectra. Allowed: one or more of significient_height, maximum_height, period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, swell_height, swell_period, swell_direction, wind_wave_height, wind_wave_period, wind_wave_direction, air_temperature, dew_point, pressure, humidity, visibility, spectrum, separated by commas. */
  has?: string
  /** Only buoys with a last reading no older than this at the snapshot's time: seconds, or `15m`, `2h`, `7d`. Allowed: seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits. */
  max_age?: string
  /** First moment; default 24 hours before the last. A date alone is its first second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  start_date?: string
  /** Last moment, included; default the snapshot's time. A date alone is its last second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  end_date?: string
  /** One day, instead of a range. Allowed: a date YYYY-MM-DD of the calendar. */
  date?: string
  /** By time within a buoy, newest first. Allowed: one of asc, desc. Default: desc. */
  order?: 'asc' | 'desc'
  /** Page, from 1. Allowed: an integer from 1 to 2147483647. Default: 1. */
  page?: number
  /** Readings a page; more than 1000 is taken as 1000. Allowed: an integer of at least 1. Default: 100. */
  per_page?: number
  /** More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`. Allowed: one or more of wind, peak_period, swell, weather, separated by commas. */
  include?: string
  /** Buckets in place of readings: hours, days or months of the clock of `timezone`, or of UTC, those with readings alone. At most ten years of a buoy by day, and a hundred times as many rows in all. Allowed: one of 1h, 3h, 1d, 1mo, hour, day, month. */
  bucket?: '1h' | '3h' | '1d' | '1mo' | 'hour' | 'day' | 'month'
  /** With `bucket`: how values become one. Directions always have their circular mean. Allowed: one of mean, max, min, median, avg. Default: mean. */
  aggregation?: 'mean' | 'max' | 'min' | 'median' | 'avg'
  /** Dates without a time are days of this zone, and so are buckets; times of the answer have its offset. Without it all is UTC. Allowed: an IANA name such as Europe/Paris. */
  timezone?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `searchPlaces`. */
export type SearchPlacesParameters = {
  /** The beginning of a name, without case or accents; a region or country may follow, as in `santa monica california`. Allowed: text of 2 to 100 characters without control characters. */
  query: string
  /** Most places to answer. Allowed: an integer from 1 to 20. Default: 5. */
  limit?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listChanges`. */
export type ListChangesParameters = {
  /** The snapshot to compare with: the `until` of the last answer, or an `X-Snapshot-Id`. Allowed: the id of a snapshot, as X-Snapshot-Id names it. */
  since: string
  /** With `readings` the answer also has the readings themselves, in pages; together with it, `peak_period` and `wind` add members to them. Allowed: one or more of readings, wind, peak_period, swell, weather, separated by commas. */
  include?: string
  /** Page, from 1. Allowed: an integer from 1 to 2147483647. Default: 1. */
  page?: number
  /** Readings a page; more than 1000 is taken as 1000. Allowed: an integer of at least 1. Default: 500. */
  per_page?: number
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listFiles`. */
export type ListFilesParameters = {
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `tides`. */
export type TidesParameters = {
  /** Latitude, decimal degrees; with `lng`. Allowed: a plain decimal number from -90 to 90. */
  lat?: number
  /** Longitude, decimal degrees; with `lat`. Allowed: a plain decimal number from -180 to 180. */
  lng?: number
  /** Id or slug of a buoy, in place of `lat` and `lng`. Allowed: text of 1 to 100 characters without control characters. */
  buoy?: string
  /** A named place, in place of `lat` and `lng`. Allowed: an integer from 1 to 9007199254740991. */
  spot_id?: number
  /** First day, or a time in it; default today on the clock of `timezone`. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  start?: string
  /** Days to answer. Allowed: an integer from 1 to 400. Default: 7. */
  days?: number
  /** The clock of days and times; default the place's own, as with `auto`. Allowed: an IANA name such as Europe/Paris, or auto. */
  timezone?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

/** Parameters of `listSpectra`. */
export type ListSpectraParameters = {
  /** First moment of the range; a date alone is its first second. Without a range: the newest spectrum. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  start_date?: string
  /** Last moment of the range, included; a date alone is its last second. Allowed: an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d). */
  end_date?: string
  /** By time, oldest or newest first. Allowed: one of asc, desc. Default: desc. */
  order?: 'asc' | 'desc'
  /** Page, from 1. Allowed: an integer from 1 to 2147483647. Default: 1. */
  page?: number
  /** Spectra a page; more than 500 is taken as 500. Allowed: an integer of at least 1. Default: 20. */
  per_page?: number
  /** `directional`: the spectrum over directions, an estimate by maximum entropy (Lygre and Krogstad 1986); in JSON alone. Allowed: one or more of directional, separated by commas. */
  include?: string
  /** Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f. */
  snapshot?: string
}

export interface Settings {
  /** Address of the operations, with the base path: `http://127.0.0.1:8080/v2`. */
  baseUrl: string
  /** Without a key only `searchBuoys`, `nearestBuoys` and `searchPlaces` answer. */
  key?: string
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  /** Ends the call early. */
  signal?: AbortSignal
  /** More headers, for instance `Accept-Language` or `X-Request-Id`. */
  headers?: { [name: string]: string }
}

/** With it a method resolves to the text of the answer in that format. */
export interface TextForm<Format extends string> {
  format: Format
  /** Names of columns, in this order. */
  fields?: readonly string[]
  /** With CSV: units in a second line, or after the names. */
  units?: '1' | 'name'
  /** With CSV: a byte order mark first. */
  bom?: '1'
}

/** The quota of this hour, as the newest answer gave it. */
export interface Quota {
  /** Calls an hour. */
  limit: number
  /** Calls left in this hour. */
  remaining: number
  /** When the hour ends. */
  resetAt: Date
}

/** Thrown for every answer that is not a success. */
export class GroundswellError extends Error {
  override name = 'GroundswellError'
  /** HTTP status. */
  readonly status: number
  /** The code for programs; `unknown` if something other than groundswell answered. */
  readonly code: ErrorAnswer['error'] | SnapshotGoneAnswer['error'] | 'unknown'
  /** Quote it when you ask for help. */
  readonly requestId: string | null
  /** Name of the wrong parameter, if the error is about one. */
  readonly parameter: string | null
  /** With `snapshot_gone`: the snapshot that is served now. */
  readonly current: string | null
  /** Seconds to wait before a retry, if the answer gives them. */
  readonly retryAfter: number | null

  constructor(status: number, body: Partial<ErrorAnswer | SnapshotGoneAnswer>, retryAfter: number | null) {
    super(body.message ?? `the answer was ${status}`)
    this.status = status
    this.code = body.error ?? 'unknown'
    this.requestId = body.request_id ?? null
    this.parameter = body.details?.parameter ?? null
    this.current = body.error === 'snapshot_gone' ? (body.details?.current ?? null) : null
    this.retryAfter = retryAfter
  }
}

/** The operations as methods. A call resolves to the whole answer, or throws. */
export class Groundswell {
  readonly #base: string
  readonly #headers: { [name: string]: string }
  readonly #fetch: typeof globalThis.fetch
  /** Null before the first answer that has a quota. */
  quota: Quota | null = null

  constructor({ baseUrl, key, fetch = globalThis.fetch }: Settings) {
    this.#base = baseUrl.replace(/\/+$/, '')
    this.#headers = key === undefined ? {} : { Authorization: `Bearer ${key}` }
    // Browsers refuse a fetch that is called as a method of something else.
    this.#fetch = fetch.bind(globalThis)
  }

  /**
   * List buoys.
   *
   * Buoys ordered by `id`, or by distance with `near`. A buoy must pass all filters. A box whose west is greater than its east crosses the antimeridian. Latitudes off the globe are clamped, longitudes are wrapped, and a south above the north is an error. A buoy is active when its newest reading is at most 24 hours (a setting of the server) older than the snapshot's time. `active_only=false` also gives the other buoys. A filter that matches nothing gives an empty list with `total_pages` 0. A page past the last is an empty list with the true `count`.
   */
  listBuoys(parameters: ListBuoysParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  listBuoys(parameters?: ListBuoysParameters, options?: CallOptions): Promise<ListBuoysAnswer>
  listBuoys(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys', parameters, options)
  }

  /**
   * One buoy.
   *
   * One buoy by id or slug, active or not. `country` is an English name. `dtz` repeats `timezone` for clients that expect it there.
   */
  getBuoy(buoyId: string | number, parameters: GetBuoyParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  getBuoy(buoyId: string | number, parameters?: GetBuoyParameters, options?: CallOptions): Promise<GetBuoyAnswer>
  getBuoy(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}`, parameters, options)
  }

  /**
   * Latest reading of several buoys.
   *
   * The newest reading of each buoy, in the order of `ids`, each buoy once. Only the first `limit` ids are processed; ids after them are in neither `buoys` nor `missing_ids`. Write `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2` or a mixture. Each id must be an integer from 1 to 9007199254740991.
   */
  lastReadings(parameters: LastReadingsParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  lastReadings(parameters: LastReadingsParameters, options?: CallOptions): Promise<LastReadingsAnswer>
  lastReadings(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys/last_readings', parameters, options)
  }

  /**
   * Search buoys by name, slug or source identifier.
   *
   * Case and accents do not matter. Exact slugs and source identifiers come first, then names that begin with the text, then names with a word that begins with it, then names that contain it. Within each group active buoys come first, then the order is by name. The length is counted without blanks at both ends. Needs no key; *Keys and quota* says how such calls are counted.
   */
  searchBuoys(parameters: SearchBuoysParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  searchBuoys(parameters: SearchBuoysParameters, options?: CallOptions): Promise<SearchBuoysAnswer>
  searchBuoys(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys/search', parameters, options)
  }

  /**
   * Nearest active buoys.
   *
   * Active buoys in the water by great-circle distance, never virtual ones. Without `limit`, or with `limit` 1, the answer is `data.buoy`; with a larger one it is `data.buoys` and `data.count`. Without a buoy within `max_distance` the answer is a 404. Needs no key.
   */
  nearestBuoys(parameters: NearestBuoysParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  nearestBuoys(parameters: NearestBuoysParameters, options?: CallOptions): Promise<NearestBuoysAnswer>
  nearestBuoys(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys/nearest', parameters, options)
  }

  /**
   * Readings of a buoy.
   *
   * There are three ways to choose readings: a range with `start_date` and `end_date` (both included, either may be left out), one UTC day with `date`, or the three hours around a moment with `timestamp`. A request with more than one of them is a 422. A request with none of them gives all readings. A range without readings gives an empty list. `meta.date_range` is the requested range. `dtz` is the buoy's IANA time zone.
   *
   * With `bucket` the answer has `buckets` in place of readings: a row for each hour, three hours, day or month of the clock of `timezone` (UTC by default) in which the range has readings, with `sample_count`. A bucket begins at the first second that the clock shows of it, so a day may have 23 or 25 hours. Values have two decimals; directions have their circular mean, or `null` where they cancel out. Too many buckets are a 422.
   *
   * With `rows=all` the answer has `rows` in place of readings: the readings and the rows of weather without waves, in order of time. A row without waves has no address of its own.
   */
  listReadings(buoyId: string | number, parameters: ListReadingsParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  listReadings(buoyId: string | number, parameters?: ListReadingsParameters, options?: CallOptions): Promise<ListReadingsAnswer>
  listReadings(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/readings`, parameters, options)
  }

  /**
   * Reading closest to a moment.
   *
   * The reading closest to `date` and `time`, both in UTC. Of two that are equally close it is the earlier one. Both ends of the tolerance are included. Without a reading within it the answer is a 404. `time_diff_minutes` is rounded to whole minutes.
   */
  closestReading(buoyId: string | number, parameters: ClosestReadingParameters, options: CallOptions = {}): Promise<ClosestReadingAnswer> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/readings/search`, parameters, options)
  }

  /**
   * One reading.
   *
   * One reading by its integer id or its UUID. Both are made of buoy and time, so they stay the same in every later snapshot. The id of a reading of another buoy gives a 404.
   */
  getReading(buoyId: string | number, readingId: string | number, parameters: GetReadingParameters = {}, options: CallOptions = {}): Promise<GetReadingAnswer> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/readings/${encodeURIComponent(readingId)}`, parameters, options)
  }

  /**
   * Chart data: readings, forecast and tide.
   *
   * Parallel arrays over one `time` axis: readings at their own times, forecast and tide at full hours. An array has `null` where it has no value for a time. Without dates the chart begins seven days before the snapshot's time and ends three days after it. A range may cover 31 days. Note the name `significant_height` here; `data.fields` names the field of a reading.
   */
  chart(buoyId: string | number, parameters: ChartParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  chart(buoyId: string | number, parameters?: ChartParameters, options?: CallOptions): Promise<ChartAnswer>
  chart(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/readings/chart`, parameters, options)
  }

  /**
   * Seasonal series, year over year.
   *
   * One metric over the same season of several years. Without years the answer has the last 10 complete seasons. With years it may have up to 13. With `end_year` alone it has the ten seasons up to that year.
   *
   * The season is the calendar year unless its days are given. Each of these parameters may also begin with `season_` (`season_start_month`). A season over New Year belongs to the year in which it starts. In years without 29 February a season that ends on it ends on 28 February, and one that starts on it starts on 1 March. A season is complete when its last day is over at the snapshot's time.
   *
   * Buckets follow the clock of `timezone`. Weeks are runs of seven days from the start of the season; the last one may be shorter. Buckets without a sample are left out. For directions `median` and `avg` both give the circular mean.
   *
   * These are a 422: `min` or `max` of a direction, a metric that the buoy does not measure (one of the last four that it has never had a value of, unless its network is national), a day that no year has, a start after the end, and too many seasons.
   */
  readingSeries(buoyId: string | number, parameters: ReadingSeriesParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  readingSeries(buoyId: string | number, parameters: ReadingSeriesParameters, options?: CallOptions): Promise<ReadingSeriesAnswer>
  readingSeries(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/readings/series`, parameters, options)
  }

  /**
   * What is usual at a buoy.
   *
   * How a metric is distributed in each month or season of the year, and in all of it.
   *
   * `count`, quantiles, `standard_deviation`, `minimum` and `maximum` are of all samples, each weighing one. Quantiles are of type 7 (Hyndman and Fan 1996), as those of R and NumPy, and not rounded. `mean` is the mean of the means of the years that count: a year of half-hours does not weigh double. That of a season or of the year is the mean of its months, `null` if one has none.
   *
   * A month of a year counts with at least `min_coverage` of its samples, and without five calendar days in a row that have none (WMO-No. 1203). The expected samples follow from the usual interval, the most frequent one of that month and at most a day. `years` are those that count, of a season or the year those in which all its months do, and `years_left_out` has the others with their `reason`: `coverage`, `gap` or `months`.
   *
   * With `by=season` a year begins in December. Directions have a circular mean, the length of the mean vector and shares of 16 sectors in place of quantiles. Readings that the report of a build calls spikes, stuck or dead are left out of statistics of waves, and counted in `left_out`; water and wind are measured by other sensors. All is in UTC.
   */
  climate(buoyId: string | number, parameters: ClimateParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  climate(buoyId: string | number, parameters?: ClimateParameters, options?: CallOptions): Promise<ClimateAnswer>
  climate(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/climate`, parameters, options)
  }

  /**
   * Greatest and least values of a buoy.
   *
   * The greatest and least value ever, of each month of the year and of each year, with the samples before and after it. A value that stands alone is `doubtful`: no sample within three hours is above half of it, or, for the least, below its double. A list that has a sound value never has a doubtful one as its record.
   *
   * `last` ranks the last sample among those of its month in all years: 1 is the highest. `higher_than_percent` is the share of them that are lower, rounded down. `highest_since` is the last earlier sample that is at least as high, and `highest_since_missing_days` counts the days without a sample since then. A direction has no records: that is a 422. Readings that the report of a build calls spikes, stuck or dead are left out of statistics of waves, and counted in `left_out`; water and wind are measured by other sensors. All is in UTC.
   */
  climateRecords(buoyId: string | number, parameters: ClimateRecordsParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  climateRecords(buoyId: string | number, parameters?: ClimateRecordsParameters, options?: CallOptions): Promise<ClimateRecordsAnswer>
  climateRecords(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/climate/records`, parameters, options)
  }

  /**
   * Heights by period, direction or month.
   *
   * How often heights come with periods (a scatter table), directions (a wave rose) or months. `x` and `y` of a bin are its lower edges; a direction is the middle of its sector of 22.5°, the first around north, and a month is 1 to 12. Bins without a reading are left out. `count` is the sum of the bins; readings of a height without an `x` are counted in `without_x`. Readings that the report of a build calls spikes, stuck or dead are left out of statistics of waves, and counted in `left_out`; water and wind are measured by other sensors. All is in UTC.
   */
  climateTable(buoyId: string | number, parameters: ClimateTableParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  climateTable(buoyId: string | number, parameters?: ClimateTableParameters, options?: CallOptions): Promise<ClimateTableAnswer>
  climateTable(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/climate/table`, parameters, options)
  }

  /**
   * Storms of a buoy.
   *
   * Runs of heights strictly above a threshold, oldest first. Two exceedances with at most `gap` between them are one storm. `duration` is its end minus its start and one usual interval. `energy` is the sum of the squares of its heights above the threshold, each times the usual interval: gaps add nothing. `missing_hours` are those without readings within it. `cut` says that readings lack for more than three intervals before its start or after its end, so that it may have been longer. Readings that the report of a build calls spikes, stuck or dead are left out of statistics of waves, and counted in `left_out`; water and wind are measured by other sensors. All is in UTC.
   */
  climateStorms(buoyId: string | number, parameters: ClimateStormsParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  climateStorms(buoyId: string | number, parameters?: ClimateStormsParameters, options?: CallOptions): Promise<ClimateStormsAnswer>
  climateStorms(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/climate/storms`, parameters, options)
  }

  /**
   * Return levels of a buoy.
   *
   * Values that are exceeded once in so many years on average: the generalized extreme value distribution of the yearly maxima by maximum likelihood, with 95 % intervals by profile likelihood (Coles 2001, chapters 2.6 and 3). A positive `shape` is a heavy tail; it is kept above −0.5.
   *
   * A year counts with at least `min_coverage` of its samples and half of those of each quarter. Fewer than 15 such years are a 422 that names them. `years_left_out` has the others; a note says so where one of them has a higher maximum than all that are used. `high` is `null` where the profile does not close below ten times the level. A period above four times the years has `extrapolated`. Readings that the report of a build calls spikes, stuck or dead are left out of statistics of waves, and counted in `left_out`; water and wind are measured by other sensors. All is in UTC.
   */
  climateExtremes(buoyId: string | number, parameters: ClimateExtremesParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  climateExtremes(buoyId: string | number, parameters?: ClimateExtremesParameters, options?: CallOptions): Promise<ClimateExtremesAnswer>
  climateExtremes(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/climate/extremes`, parameters, options)
  }

  /**
   * Satellite missions.
   *
   * Every mission that passes may come from, with or without a pass in the snapshot. `locale` sets the language of the descriptions. Without it the header `Accept-Language` does, quality values included.
   */
  listSatellites(parameters: ListSatellitesParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  listSatellites(parameters?: ListSatellitesParameters, options?: CallOptions): Promise<ListSatellitesAnswer>
  listSatellites(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys/satellites', parameters, options)
  }

  /**
   * Satellite passes over virtual buoys.
   *
   * Passes, newest first by `started_at`. A pass is fresh when one of its observations is within the active window before the snapshot's time. `bounds` has `west` greater than `east` where the pass crosses the antimeridian. A mission that does not exist gives a 404.
   */
  listSatellitePasses(parameters: ListSatellitePassesParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  listSatellitePasses(parameters?: ListSatellitePassesParameters, options?: CallOptions): Promise<ListSatellitePassesAnswer>
  listSatellitePasses(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys/satellite_passes', parameters, options)
  }

  /**
   * Forecast, nearest buoy reading and tide of a point.
   *
   * Everything about one point at one time, by default the current minute. The forecast comes from the nearest forecast point within 50 km and is interpolated in time. The tide is predicted for the nearest harbour within 100 km. The reading is that of the nearest buoy within 50 km that has one within 3 hours of `time`; if none has, of the nearest that has one within 24 hours. What is out of reach is `null` under its key; a missing reading is `{"exists": false}`. `spot_id` adds `spot` and `nearby`. A spot that does not exist gives a 404.
   */
  conditions(parameters: ConditionsParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  conditions(parameters: ConditionsParameters, options?: CallOptions): Promise<ConditionsAnswer>
  conditions(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/conditions', parameters, options)
  }

  /**
   * Countries with active buoys.
   *
   * The countries that have active buoys, by English name, with the number of these buoys.
   */
  listCountries(parameters: ListCountriesParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  listCountries(parameters?: ListCountriesParameters, options?: CallOptions): Promise<ListCountriesAnswer>
  listCountries(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/countries', parameters, options)
  }

  /**
   * All active buoys for a map.
   *
   * All active buoys in one answer, with what a map draws; `active_only=false` also gives the other buoys. Virtual buoys also name the satellite pass of their newest reading. A box whose west is greater than its east crosses the antimeridian. Latitudes off the globe are clamped, longitudes are wrapped.
   */
  mapBuoys(parameters: MapBuoysParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  mapBuoys(parameters?: MapBuoysParameters, options?: CallOptions): Promise<MapBuoysAnswer>
  mapBuoys(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/buoys/map', parameters, options)
  }

  /**
   * Forecast and tide of a place, hour by hour.
   *
   * Waves, swell, wind and tide of a place, hour by hour from `start` on, with the high and low waters of that time. Name the place by `lat` and `lng`, by `buoy` (id or slug) or by `spot_id`. The forecast comes from the nearest forecast point within 50 km, the tide from the nearest harbour within 100 km; both agree with `/conditions` at every hour. Where nothing is in reach, values are `null` and `tides` is empty.
   */
  forecast(parameters: ForecastParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  forecast(parameters?: ForecastParameters, options?: CallOptions): Promise<ForecastAnswer>
  forecast(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/forecast', parameters, options)
  }

  /**
   * Readings of many buoys.
   *
   * Readings of all buoys that match the filters, by buoy id and then time, newest first. Without a range they are those of the 24 hours before the snapshot's time. `ids` and the filters combine. `bucket` does what it does for one buoy. As CSV, NDJSON, GeoJSON or Parquet all rows come in one answer, each with the name and position of its buoy.
   */
  readingsOfBuoys(parameters: ReadingsOfBuoysParameters & TextForm<'csv' | 'ndjson' | 'geojson'>, options?: CallOptions): Promise<string>
  readingsOfBuoys(parameters?: ReadingsOfBuoysParameters, options?: CallOptions): Promise<ReadingsOfBuoysAnswer>
  readingsOfBuoys(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/readings', parameters, options)
  }

  /**
   * Coastal towns by name, with the nearest buoys.
   *
   * Coastal towns with words in their names that begin as the text does. Words after the name may be of the region, the country or its code: `sydney au`. Names, regions and positions are a part of [GeoNames](https://www.geonames.org/), under [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Needs no key.
   */
  searchPlaces(parameters: SearchPlacesParameters, options: CallOptions = {}): Promise<SearchPlacesAnswer> {
    return this.#get('/places', parameters, options)
  }

  /**
   * What has changed since a snapshot.
   *
   * How the current snapshot, or the one that `snapshot` names, differs from the one that `since` names. `buoys` is not paged. It has every buoy that is new (`added`), is gone (`removed`), or has changed (`changed`): it moved, was renamed or described differently, became active or inactive, or its readings differ. `readings` of a buoy counts these by months: `from` and `to` are the times of the first and the last of them. `passes` and `forecast` say whether anything of them differs.
   *
   * `include=readings` adds the readings themselves, in pages, by buoy and time; `buoys` is on the first page alone. A removed reading is given as it was. Follow the pages with `snapshot` set to the `until` of the first: `Link` does.
   *
   * Next time, use the `until` of this answer as `since`. A `since` that the server no longer holds gives a 410: fetch the lists again. With the current snapshot as `since` the answer has no changes.
   */
  listChanges(parameters: ListChangesParameters, options: CallOptions = {}): Promise<ListChangesAnswer> {
    return this.#get('/changes', parameters, options)
  }

  /**
   * Bulk files of all readings.
   *
   * The files that the snapshot was exported as, for databases that load all readings without requests to this server: for each network one file a year, in the last year one a month, and all buoys. `path` is relative to the folder of the files: ask the operator where they are. `address` is always null. A file is named by its content and never changes; what changes gets a file of a new name. `snapshot` is the one whose data the files are: after an export that failed an earlier one. Where nothing is exported, the list is empty.
   */
  listFiles(parameters: ListFilesParameters = {}, options: CallOptions = {}): Promise<ListFilesAnswer> {
    return this.#get('/files', parameters, options)
  }

  /**
   * High and low waters of a place.
   *
   * High and low waters of a place for up to 400 days, as tide tables have them: by days of the place's clock, or of `timezone`. Name the place by `lat` and `lng`, by `buoy` (id or slug) or by `spot_id`. They are predicted from the harmonic constituents of the nearest harbour within 100 km, at the same instants as in `/forecast`. Turns of the water by less than 1 cm are left out, and `left_out` counts them. Where no harbour is in reach, `tides` is empty.
   */
  tides(parameters: TidesParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  tides(parameters?: TidesParameters, options?: CallOptions): Promise<TidesAnswer>
  tides(parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get('/tides', parameters, options)
  }

  /**
   * Wave spectra of a buoy.
   *
   * The wave spectra of a buoy: without a range the newest one. `density`, `direction`, `principal_direction`, `r1` and `r2` are by band, in the order of `data.frequencies`. Directions are where waves come from. `hm0` to `power` are of the whole spectrum, from 0.0325 Hz on; `power` is that of deep water, ρg²/(64π)·hm0²·te. The significant height of a reading stays what its source gives: `hm0` stands beside it. Spectra stay for 45 days before the newest one (a setting of the server).
   *
   * All spectra of an answer have the bands of the newest one of the range; `other_bands` counts the others. As CSV, NDJSON or Parquet there is a row for each spectrum and band, whatever the bands.
   *
   * `include=directional` adds the spectrum over 72 directions: an estimate by maximum entropy (Lygre and Krogstad 1986), since the moments that a buoy measures do not tell it.
   */
  listSpectra(buoyId: string | number, parameters: ListSpectraParameters & TextForm<'csv' | 'ndjson'>, options?: CallOptions): Promise<string>
  listSpectra(buoyId: string | number, parameters?: ListSpectraParameters, options?: CallOptions): Promise<ListSpectraAnswer>
  listSpectra(buoyId: string | number, parameters: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#get(`/buoys/${encodeURIComponent(buoyId)}/spectra`, parameters, options)
  }

  /**
   * The readings of a buoy, one after the other: `for await (const reading of api.readings('anglet', { since }))`.
   *
   * They are those of one snapshot, the current one at the first call, each exactly once, whatever is published
   * meanwhile. Where the server stops to hold that snapshot, what is left comes from its current one, from the last
   * reading on: no time comes twice, and none that both snapshots have is left out. Corrections of what has come already
   * do not come again: `changes` has them. With `snapshot` the walk throws instead. Its calls are tried again
   * for as long as `patience` says.
   */
  readings(buoyId: string | number, options: ReadingsOptions = {}): AsyncGenerator<Reading, void, undefined> {
    const path = `/buoys/${encodeURIComponent(buoyId)}/readings`
    return walkReadings((...call) => this.#ask(...call), path, options)
  }

  /**
   * What distinguishes the current snapshot from the one of `since`, in pages: buoys on the first, readings on all.
   * All pages compare the same two snapshots. Ask next time since the `until` of the pages, after the last one.
   *
   * Throws a `snapshot_gone` where one of the two is not held any more. What has come then is a part: undo it, and
   * ask once more since the same snapshot. Where that throws at once, take the lists.
   */
  changes(since: string, options: ChangesOptions = {}): AsyncGenerator<ChangesPage, void, undefined> {
    return walkChanges((...call) => this.#ask(...call), since, options)
  }

  /**
   * Every snapshot that is published, from the current one on: `for await (const { snapshot } of api.events())`.
   *
   * Lost connections are reopened, a while after what the server asks for, at a random moment; then the newest
   * snapshot comes, not each one in between. Ends when you leave the loop; throws when `signal` aborts, and where the
   * server refuses for good (a wrong key, no such buoy, a server without events).
   */
  events(options: EventsOptions = {}): AsyncGenerator<SnapshotEvent, void, undefined> {
    return followEvents((...call) => this.#open(...call), options)
  }

  async #get<Answer>(path: string, parameters: object, options: CallOptions): Promise<Answer> {
    return (await this.#ask(path, parameters, options)).body as Answer
  }

  async #ask(
    path: string,
    parameters: object,
    options: CallOptions,
  ): Promise<{ body: unknown; snapshot: string | null }> {
    const answer = await this.#open(path, parameters, options)
    const { format } = parameters as { format?: string }
    const body: unknown = await (format === undefined ? answer.json() : answer.text())
    return { body, snapshot: answer.headers.get('X-Snapshot-Id') }
  }

  /** @throws GroundswellError for every answer that is not a success, and what `fetch` throws */
  async #open(path: string, parameters: object, { signal, headers }: CallOptions): Promise<Response> {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(parameters) as [string, Value | null | undefined][]) {
      if (value !== undefined && value !== null) query.set(name, textOf(value))
    }
    const asked = query.toString()
    const answer = await this.#fetch(`${this.#base}${path}${asked === '' ? '' : `?${asked}`}`, {
      headers: { ...this.#headers, ...headers },
      signal: signal ?? null,
    })
    const limit = answer.headers.get('X-RateLimit-Limit')
    if (limit !== null) {
      this.quota = {
        limit: Number(limit),
        remaining: Number(answer.headers.get('X-RateLimit-Remaining')),
        resetAt: new Date(Number(answer.headers.get('X-RateLimit-Reset')) * 1000),
      }
    }
    if (answer.ok) return answer
    const retryAfter = answer.headers.get('Retry-After')
    const body = (await answer.json().catch(() => ({}))) as Partial<ErrorAnswer | SnapshotGoneAnswer>
    throw new GroundswellError(answer.status, body, retryAfter === null ? null : Number(retryAfter))
  }
}

type Value = string | number | boolean | object

/** A value as text of a query. */
function textOf(value: Value): string {
  if (Array.isArray(value)) return value.join(',')
  // The API takes no exponents.
  if (typeof value === 'number' && /e-/.test(String(value))) return value.toFixed(12)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}


/** How often a call is tried again: after lost connections, 429 and answers from 500 on. */
export interface PatientOptions extends CallOptions {
  /** Seconds until a call that fails again and again throws. Default: 60; 0 tries once. */
  patience?: number
}

export interface ReadingsOptions extends PatientOptions {
  /** First and last moment, both included. Text is as in `start_date` and `end_date` of `listReadings`. */
  since?: Date | string
  until?: Date | string
  /** By time, oldest or newest first. Default: `asc`. */
  order?: 'asc' | 'desc'
  /** Readings a call, at most 100, which is the default. */
  perPage?: number
  /** Of this snapshot alone: throws where it is gone, instead of going on with another one. */
  snapshot?: string
}

export interface ChangesOptions extends PatientOptions {
  /** Readings a call, at most 1000, which is the default. */
  perPage?: number
}

/** A page of `changes`. `buoys` is empty on all but the first. */
export type ChangesPage = ListChangesAnswer['data'] & {
  readings: ChangedReading[]
  /** Readings that differ, over all pages. */
  count: number
}

/** How the connection of `events` is. `waitMs` is the time until the next try. */
export type EventsState =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'waiting'; waitMs: number; error: Error }

export interface EventsOptions extends CallOptions {
  /** Ids or slugs, at most 20: then an event comes where one of these has changed, and first of all. */
  buoys?: readonly (string | number)[]
  /** A snapshot that is known already: the first event counts from it where the server still holds it. */
  lastEventId?: string
  /** Called whenever the connection comes, goes or is tried. */
  onState?: (state: EventsState) => void
  /** A connection that brings nothing for so long counts as lost. Default: 65000, three signs of life. */
  silenceMs?: number
}

/** A call below the base path. `snapshot` is the one of the answer. */
type Ask = (
  path: string,
  parameters: object,
  options: CallOptions,
) => Promise<{ body: unknown; snapshot: string | null }>

/** Opens a stream below the base path. @throws GroundswellError for an answer that is not a success */
type Open = (path: string, parameters: object, options: CallOptions) => Promise<Response>

const PATIENCE_S = 60
/** Waits double from the first to the longest. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 60_000
/** What a server may ask for with `retry`. */
const LEAST_RETRY_MS = 100
const MOST_RETRY_MS = 300_000
const MOST_DOUBLINGS = 10
const SILENCE_MS = 65_000
/** Characters. An event of twenty buoys has 600. */
const LONGEST_LINE = 65_536
const LONGEST_DATA = 262_144
const TOO_LONG = 'the stream of events has a line or an event that is too long'
const SECOND_MS = 1000
const DAY_MS = 86_400_000

export async function* walkReadings(
  ask: Ask,
  path: string,
  { since, until, order = 'asc', perPage = 100, snapshot, patience, ...call }: ReadingsOptions,
): AsyncGenerator<Reading, void, undefined> {
  let [from, to] = [timeText(since), timeText(until)]
  let pin = snapshot ?? null
  let last: string | null = null
  for (let page = 1; ; page++) {
    const parameters = { start_date: from, end_date: to, order, per_page: perPage, page, snapshot: pin }
    let answer
    try {
      answer = await patiently(() => ask(path, parameters, call), patience, call.signal)
    } catch (error) {
      if (snapshot !== undefined || pin === null || !isSnapshotGone(error)) throw error
      // A buoy has one reading at a time, so the rest of another snapshot begins a second further.
      if (last !== null) {
        const next = Date.parse(last) + (order === 'asc' ? SECOND_MS : -SECOND_MS)
        if (order === 'asc' ? next > endOf(to) : next < startOf(from)) return
        if (order === 'asc') from = timeText(new Date(next))
        else to = timeText(new Date(next))
      }
      pin = null
      page = 0
      continue
    }
    const { data, meta } = answer.body as ListReadingsAnswer
    pin ??= answer.snapshot
    if (pin === null && meta.total_pages > 1) {
      throw new Error('the answer has no X-Snapshot-Id: the server is too old for it, or a proxy drops it')
    }
    for (const reading of data.readings) {
      last = reading.time
      yield reading
    }
    if (page >= meta.total_pages) return
  }
}

export async function* walkChanges(
  ask: Ask,
  since: string,
  { perPage = 1000, patience, ...call }: ChangesOptions,
): AsyncGenerator<ChangesPage, void, undefined> {
  let until: string | null = null
  for (let page = 1; ; page++) {
    const parameters: object = { since, include: 'readings', per_page: perPage, page, snapshot: until }
    const { body } = await patiently(() => ask('/changes', parameters, call), patience, call.signal)
    const { data, meta } = body as ListChangesAnswer
    until = data.until
    yield { ...data, readings: data.readings ?? [], count: data.count ?? 0 }
    if (page >= (meta.total_pages ?? 0)) return
  }
}

/**
 * The snapshots that a server publishes, one after the other, over as many connections as it takes. Ends with
 * its consumer alone. @throws GroundswellError where the server refuses for good
 */
export async function* followEvents(
  open: Open,
  { buoys = [], lastEventId, onState = () => {}, silenceMs = SILENCE_MS, ...call }: EventsOptions,
): AsyncGenerator<SnapshotEvent, void, undefined> {
  const parameters = { buoy: buoys.length === 0 ? null : buoys }
  const waits = { retryMs: FIRST_WAIT_MS }
  let last = lastEventId
  let shown: string | null = null
  for (let failures = 0; ; failures++) {
    call.signal?.throwIfAborted()
    onState({ state: 'connecting' })
    const headers: { [name: string]: string } = { ...call.headers, Accept: 'text/event-stream' }
    if (last !== undefined) headers['Last-Event-ID'] = last
    let error = new Error('the server ended the connection')
    try {
      for await (const event of connectionEvents(open, parameters, { ...call, headers }, silenceMs, waits)) {
        failures = 0
        last = event.snapshot
        onState({ state: 'live' })
        // A new connection begins with the current snapshot, which mostly is no news.
        if (event.snapshot !== shown) yield event
        shown = event.snapshot
      }
    } catch (cause) {
      call.signal?.throwIfAborted()
      if (cause instanceof GroundswellError && !mayPass(cause)) throw cause
      error = asError(cause)
    }
    const waitMs = waitAfter(error, failures, waits.retryMs)
    onState({ state: 'waiting', waitMs, error })
    await pause(waitMs, call.signal)
  }
}

/** The events of one connection; its end is theirs. What the server says of waiting goes into `waits`. */
async function* connectionEvents(
  open: Open,
  parameters: object,
  { signal, ...call }: CallOptions,
  silenceMs: number,
  waits: { retryMs: number },
): AsyncGenerator<SnapshotEvent, void, undefined> {
  const connection = new AbortController()
  const stop = (): void => connection.abort(signal?.reason)
  signal?.addEventListener('abort', stop)
  let silence: ReturnType<typeof setTimeout> | undefined
  const hear = (): void => {
    clearTimeout(silence)
    silence = setTimeout(() => connection.abort(new Error('the connection was silent')), silenceMs)
  }
  try {
    hear()
    const answer = await open('/events', parameters, { ...call, signal: connection.signal })
    if (!/^text\/event-stream\b/i.test(answer.headers.get('Content-Type') ?? '') || answer.body === null) {
      throw new Error('the answer is no stream of events')
    }
    const parser = new EventParser()
    for await (const chunk of chunksOf(answer.body)) {
      hear()
      for (const { event, data } of parser.push(chunk)) {
        waits.retryMs = parser.retryMs ?? waits.retryMs
        if (event === 'snapshot') yield snapshotEventOf(data)
      }
    }
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', stop)
    connection.abort()
  }
}

/** Tries a call until it succeeds, its failure is final, or `patience` (seconds) is over. */
async function patiently<T>(call: () => Promise<T>, patience = PATIENCE_S, signal?: AbortSignal): Promise<T> {
  const end = performance.now() + patience * SECOND_MS
  for (let failures = 0; ; failures++) {
    try {
      return await call()
    } catch (error) {
      signal?.throwIfAborted()
      // What fetch throws for a lost connection is a TypeError.
      const isPassing = error instanceof GroundswellError ? mayPass(error) : error instanceof TypeError
      const waitMs = waitAfter(error, failures, FIRST_WAIT_MS)
      if (!isPassing || performance.now() + waitMs > end) throw error
      await pause(waitMs, signal)
    }
  }
}

const mayPass = ({ status }: GroundswellError): boolean => status === 429 || status >= 500

const isSnapshotGone = (error: unknown): boolean =>
  error instanceof GroundswellError && error.code === 'snapshot_gone'

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

/** Half to one and a half of the doubled wait, so that clients do not come back all at once. */
function waitAfter(error: unknown, failures: number, firstMs: number): number {
  const doubled = Math.min(
    Math.max(LONGEST_WAIT_MS, firstMs),
    firstMs * 2 ** Math.min(failures, MOST_DOUBLINGS),
  )
  const askedFor = error instanceof GroundswellError ? (error.retryAfter ?? 0) * SECOND_MS : 0
  return Math.max(askedFor, doubled / 2) + Math.random() * doubled
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(asError(signal?.reason))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted === true) end()
  })
}

function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString().replace(/\.\d+Z$/, 'Z') : time
}

/** Milliseconds of the first moment that a text names; a date alone names a day. */
const startOf = (text: string | undefined): number => (text === undefined ? -Infinity : Date.parse(text))

function endOf(text: string | undefined): number {
  if (text === undefined) return Infinity
  return Date.parse(text) + (/^\d{4}-\d\d-\d\d$/.test(text) ? DAY_MS - SECOND_MS : 0)
}

/** The chunks of a body as text. Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    // The connection may be gone already.
    reader.cancel().catch(() => {})
  }
}

interface ServerSentEvent {
  event: string
  data: string
}

/** Reads a stream of Server-Sent Events, in pieces as they come. `id` repeats what is in the data. */
class EventParser {
  /** What the server asks clients to wait before they come again; null where it does not. */
  retryMs: number | null = null
  #text = ''
  /** Characters of the text that hold no end of a line. */
  #searched = 0
  /** The last piece ended with a carriage return, which ended its line. */
  #isHalf = false
  #event = ''
  #data: string[] = []
  #size = 0

  /** The events that the next piece completes. @throws Error for a line or an event beyond all measure */
  push(piece: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    // The second half of an end that came in two pieces.
    const rest = this.#isHalf && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#isHalf = piece.endsWith('\r')
    this.#text += rest
    let start = 0
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = this.#searched
    for (let end = ends.exec(this.#text); end !== null; end = ends.exec(this.#text)) {
      const line = this.#text.slice(start, end.index)
      start = ends.lastIndex
      if (line === '') this.#complete(events)
      else this.#take(line)
    }
    this.#text = this.#text.slice(start)
    this.#searched = this.#text.length
    if (this.#text.length > LONGEST_LINE) throw new Error(TOO_LONG)
    return events
  }

  #take(line: string): void {
    if (line.length > LONGEST_LINE) throw new Error(TOO_LONG)
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#event = value
    else if (name === 'data') {
      this.#size += value.length
      if (this.#size > LONGEST_DATA) throw new Error(TOO_LONG)
      this.#data.push(value)
    } else if (name === 'retry' && /^\d{1,9}$/.test(value)) {
      this.retryMs = Math.min(MOST_RETRY_MS, Math.max(LEAST_RETRY_MS, Number(value)))
    }
  }

  #complete(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') })
    this.#event = ''
    this.#data = []
    this.#size = 0
  }
}

/** @throws Error for what is no event of a snapshot; the connection is then reopened */
function snapshotEventOf(data: string): SnapshotEvent {
  const event = JSON.parse(data) as Partial<SnapshotEvent> | null
  if (typeof event?.snapshot !== 'string' || typeof event.as_of !== 'string') {
    throw new Error('an event of the server cannot be understood')
  }
  return { ...event, since: event.since ?? null, changes: event.changes ?? null } as SnapshotEvent
}
