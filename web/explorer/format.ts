/** Numbers, times and positions as text for people. */

export interface Zone {
  /** IANA name. */
  name: string
  /** `UTC`, or the zone's city. */
  label: string
}

export const UTC: Zone = { name: 'UTC', label: 'UTC' }

/** A zone by its IANA name; UTC where the browser does not know it. */
export function zoneOf(name: string): Zone {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name }).format(0)
  } catch {
    return UTC
  }
  return name === 'UTC' ? UTC : { name, label: labelOf(name) }
}

/** `New York`, and for zones of the open sea `UTC−6`. */
function labelOf(name: string): string {
  if (!name.startsWith('Etc/')) return name.slice(name.lastIndexOf('/') + 1).replaceAll('_', ' ')
  return nameIn('en-GB', { name, label: '' }, 0, 'shortOffset')
    .replace('GMT', 'UTC')
    .replace('-', '−')
    .replace(/\+0$/, '')
}

/** The zone of the visitor's system. */
export function viewerZone(): Zone {
  return zoneOf(Intl.DateTimeFormat().resolvedOptions().timeZone)
}

/** The clock that the visitor chose; `localZone` is the zone of the buoy or point. */
export function chosenZone(choice: 'utc' | 'buoy' | 'viewer', localZone: string): Zone {
  if (choice === 'utc') return UTC
  return choice === 'viewer' ? viewerZone() : zoneOf(localZone)
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: Zone, options: Intl.DateTimeFormatOptions, locale = 'en-GB'): Intl.DateTimeFormat {
  const key = `${locale} ${zone.name} ${JSON.stringify(options)}`
  let format = formats.get(key)
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale, { timeZone: zone.name, ...options })
    formats.set(key, format)
  }
  return format
}

/** Browsers name a zone to those who live near it, and give others its distance from GMT. */
const NAMING_LOCALES = ['en-US', 'en-GB', 'en-CA', 'en-AU', 'en-IN', 'en-ZA']

/** What a zone's clock is called at a time: `PST`, in summer `PDT`; the zone's city where it has no name. */
export function clockName(time: Date, zone: Zone): string {
  const names = NAMING_LOCALES.map((locale) => nameIn(locale, zone, time, 'short'))
  return names.find((name) => /^[A-Z]{2,5}$/.test(name)) ?? zone.label
}

function nameIn(locale: string, zone: Zone, time: Date | 0, timeZoneName: 'short' | 'shortOffset'): string {
  const parts = formatOf(zone, { timeZoneName }, locale).formatToParts(time)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** `Sat 21 Nov, 06:30 CET`; `now` in epoch milliseconds. */
export const dayTimeAndZone = (time: Date, zone: Zone, now: number): string =>
  `${dayAndTime(time, zone, now)} ${clockName(time, zone)}`

/** `Sat 21 Nov, 06:30`, with the year where it is not that of `now`. */
export function dayAndTime(time: Date, zone: Zone, now: number): string {
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  return formatOf(zone, { weekday: 'short', ...dayOf(time, zone, now), ...clock }).format(time)
}

/** `21 Nov`, with the year where it is not that of `now`. */
export const dayText = (time: Date, zone: Zone, now: number): string =>
  formatOf(zone, dayOf(time, zone, now)).format(time)

/** `Sat 21` */
export const dayName = (time: Date, zone: Zone): string =>
  formatOf(zone, { weekday: 'short', day: 'numeric' }).format(time)

function dayOf(time: Date, zone: Zone, now: number): Intl.DateTimeFormatOptions {
  const year = { year: 'numeric' } as const
  const isOther = formatOf(zone, year).format(time) !== formatOf(zone, year).format(now)
  return { day: 'numeric', month: 'short', ...(isOther && year) }
}

/** `06:30` */
export function clockTime(time: Date, zone: Zone): string {
  return formatOf(zone, { hour: '2-digit', minute: '2-digit' }).format(time)
}

/** `24 min`, `3 h 10 min`, `5 days`. Negative `seconds` count as 0. */
export function duration(seconds: number): string {
  const minutes = Math.max(0, Math.round(seconds / 60))
  if (minutes < 60) return `${minutes} min`
  if (minutes >= 48 * 60) return `${Math.round(minutes / 1440)} days`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

/** `24 min ago` */
export function agoText(time: number, now: number): string {
  return `${duration((now - time) / 1000)} ago`
}

/** An older reading says little about now: it is grey, with its age. Those of satellites come hours later. */
const OLD_MS = 3 * 3_600_000
export const DAY_MS = 86_400_000

export const isOld = (time: number, now: number, isVirtual = false): boolean =>
  now - time > (isVirtual ? DAY_MS : OLD_MS)

/** `43.53° N, 1.62° W` */
export function position(lat: number, lng: number): string {
  // No line ends within a part.
  const part = (value: number, positive: string, negative: string): string =>
    `${Math.abs(value).toFixed(2)}°\u00a0${value < 0 ? negative : positive}`
  return `${part(lat, 'N', 'S')}, ${part(lng, 'E', 'W')}`
}

const COMPASS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')

/** `W 270°`: one of the sixteen points of the compass, and the degrees. */
export function directionText(degrees: number): string {
  return `${COMPASS[Math.round(degrees / 22.5) % 16]} ${degrees}°`
}
