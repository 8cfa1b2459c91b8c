/** Numbers, times and positions as text for people. */
import { locale, localNumber, texts } from './language.ts'

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

function formatOf(zone: Zone, options: Intl.DateTimeFormatOptions, by = locale): Intl.DateTimeFormat {
  const key = `${by} ${zone.name} ${JSON.stringify(options)}`
  let format = formats.get(key)
  if (format === undefined) {
    format = new Intl.DateTimeFormat(by, { timeZone: zone.name, ...options })
    formats.set(key, format)
  }
  return format
}

/** Browsers name a zone to those who live near it, and give others its distance from GMT. */
const NAMING_LOCALES = ['en-US', 'en-GB', 'en-CA', 'en-AU', 'en-IN', 'en-ZA']

/** Name of a zone's clock at a time: `PST`, in summer `PDT`; without a name the zone's city. */
export function clockName(time: Date, zone: Zone): string {
  const names = NAMING_LOCALES.map((each) => nameIn(each, zone, time, 'short'))
  return names.find((name) => /^[A-Z]{2,5}$/.test(name)) ?? zone.label
}

function nameIn(by: string, zone: Zone, time: Date | 0, timeZoneName: 'short' | 'shortOffset'): string {
  const parts = formatOf(zone, { timeZoneName }, by).formatToParts(time)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** `Sat 21 Nov, 06:30 CET`; `now` in epoch milliseconds. */
export const dayTimeAndZone = (time: Date, zone: Zone, now: number): string =>
  `${dayAndTime(time, zone, now)} ${clockName(time, zone)}`

/** `Sat 21 Nov, 06:30`, with the year where it is not that of `now`. */
export const dayAndTime = (time: Date, zone: Zone, now: number): string =>
  texts.time.dayAndClock(
    formatOf(zone, { weekday: 'short', ...dayOf(time, zone, now) }).format(time),
    clockTime(time, zone),
  )

/** `21 Nov`, with the year where it is not that of `now`. */
export const dayText = (time: Date, zone: Zone, now: number): string =>
  formatOf(zone, dayOf(time, zone, now)).format(time)

/** `21 Nov` of any year. */
export const dayOfYear = (time: Date): string =>
  formatOf(UTC, { day: 'numeric', month: 'short' }).format(time)

/** `2026-11-21`: the day of a zone's calendar. */
export const calendarDay = (time: Date, zone: Zone): string =>
  formatOf(zone, { year: 'numeric', month: '2-digit', day: '2-digit' }, 'en-CA').format(time)

/** `Sat 21 November`, of a month `November 2026`, with the year where it is not that of `now`. */
export function bucketName(time: Date, bucket: '1d' | '1mo', zone: Zone, now: number): string {
  if (bucket === '1mo') return formatOf(zone, { month: 'long', year: 'numeric' }).format(time)
  return formatOf(zone, { weekday: 'short', ...dayOf(time, zone, now), month: 'long' }).format(time)
}

/** `Sat 21` */
export const dayName = (time: Date, zone: Zone): string =>
  formatOf(zone, { weekday: 'short', day: 'numeric' }).format(time)

function dayOf(time: Date, zone: Zone, now: number): Intl.DateTimeFormatOptions {
  const year = { year: 'numeric' } as const
  const isOther = formatOf(zone, year).format(time) !== formatOf(zone, year).format(now)
  return { day: 'numeric', month: 'short', ...(isOther && year) }
}

/** Names of months and days for the ticks of charts, short ones and whole ones. */
export function tickNames() {
  const names = (count: number, options: Intl.DateTimeFormatOptions): string[] =>
    // The first of August 2021 was a Sunday, with which weeks of charts begin.
    Array.from({ length: count }, (_, i) => {
      const at = options.month === undefined ? Date.UTC(2021, 7, 1 + i) : Date.UTC(2021, i)
      return formatOf(UTC, options).format(at)
    })
  return {
    MMMM: names(12, { month: 'long' }),
    MMM: names(12, { month: 'short' }),
    WWWW: names(7, { weekday: 'long' }),
    WWW: names(7, { weekday: 'short' }),
  }
}

/** `06:30` */
export function clockTime(time: Date, zone: Zone): string {
  return formatOf(zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(time)
}

/** Days from which a duration is written in months, and in years. */
const [DAYS_OF_MONTHS, DAYS_OF_YEARS] = [90, 730]
const [DAYS_A_MONTH, DAYS_A_YEAR] = [30.44, 365.25]

/** `24 min`, `3 h 10 min`, `5 days`, `3 years`. Negative `seconds` count as 0. */
export function duration(seconds: number): string {
  const minutes = Math.max(0, Math.round(seconds / 60))
  if (minutes < 60) return texts.time.minutes(minutes)
  if (minutes < 48 * 60) return texts.time.hours(Math.floor(minutes / 60), minutes % 60)
  const days = Math.round(minutes / 1440)
  if (days < DAYS_OF_MONTHS) return texts.time.days(days)
  if (days < DAYS_OF_YEARS) return texts.time.months(Math.round(days / DAYS_A_MONTH))
  return texts.time.years(Math.round(days / DAYS_A_YEAR))
}

/** `24 min ago` */
export function agoText(time: number, now: number): string {
  return texts.time.ago(duration((now - time) / 1000))
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
    `${localNumber(Math.abs(value).toFixed(2))}°\u00a0${value < 0 ? negative : positive}`
  return `${part(lat, texts.north, texts.south)}, ${part(lng, texts.east, texts.west)}`
}

/** `W`: one of the sixteen points of the compass. */
export const compassPoint = (degrees: number): string => texts.compass[Math.round(degrees / 22.5) % 16] ?? ''

/** `W 270°`: the point of the compass, and the degrees. */
export const directionText = (degrees: number): string => `${compassPoint(degrees)} ${degrees}°`
