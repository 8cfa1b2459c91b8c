/**
 * The satellite missions with passes that we know how to number, and the names of passes (contract,
 * "Satellite mission").
 *
 * A pass is half an orbit, from one turning point of the latitude to the other. Passes are numbered from 1
 * within a cycle, the time after which the ground track repeats; odd ones ascend. Both numbers follow from
 * time alone, with the reference crossings of the equator that the Radar Altimeter Database System publishes
 * for each phase of a mission. HaiYang-2B and 2C are not here, because no confirmed reference of theirs is
 * public: a filter under which no pass can ever be found would mislead.
 */
import type { Language } from './languages.ts'
import { DAY } from './time.ts'

/** A stretch of a mission's life in one orbit. */
export interface OrbitPhase {
  /** Epoch seconds from when on passes are numbered by this phase; until the next one begins. */
  from: number
  /** A crossing of the equator, epoch seconds, in the middle of the pass `pass` of cycle `cycle`. */
  equator: number
  cycle: number
  pass: number
  /** Length of a cycle in days, and its passes. */
  days: number
  passes: number
}

export interface Mission {
  /** Part of the ids of passes: never changes and is never given to another mission. 1 to 99. */
  readonly index: number
  readonly slug: string
  /** The mission's name, which is also the `platform` of its passes. */
  readonly name: string
  /** How names of passes begin: `S3A_C081_P0517`. */
  readonly code: string
  /**
   * The mission in names of Copernicus Marine files, and in their attribute `platform` (letters and digits
   * only).
   */
  readonly fileCodes: readonly string[]
  readonly agency: string
  readonly instrument: string
  readonly description: { readonly [language in Language]: string }
  /** Ascending; a phase of 0 passes ends the numbering. */
  readonly phases: readonly OrbitPhase[]
  /**
   * Passes in a cycle, where products give begin and end of their cycle themselves, without a reference.
   */
  readonly passesOfOwnCycle?: number
}

/** Addresses of the pictures that a server draws itself, as paths from its root; `{slug}` is the mission. */
export const DRAWN_PICTURES = '/missions/{slug}.svg'

/** The address of the picture of a mission. */
export function missionPicture(slug: string, pictures = DRAWN_PICTURES): string {
  return pictures.replaceAll('{slug}', slug)
}

interface PassNumber {
  cycle: number
  /** From 1; odd passes ascend. */
  number: number
}

const utc = (text: string): number => Date.parse(`${text}Z`) / 1000

function phase(
  from: string,
  equator: string,
  cycle: number,
  pass: number,
  days: number,
  passes: number,
): OrbitPhase {
  return { from: utc(from), equator: utc(equator), cycle, pass, days, passes }
}

/** From here on the mission's passes have no numbers. */
const numberingEnds = (from: string): OrbitPhase => phase(from, from, 0, 1, 1, 0)

/** Repeat of the orbit that TOPEX/Poseidon began, in days; 254 passes. */
const REFERENCE_ORBIT_DAYS = 9.9156428

/** By index, which is the order of the answer. */
export const MISSIONS: readonly Mission[] = [
  {
    index: 1,
    slug: 'sentinel-3a',
    name: 'Sentinel-3A',
    code: 'S3A',
    fileCodes: ['s3a', 'sentinel3a'],
    agency: 'ESA/EUMETSAT',
    instrument: 'SRAL',
    description: {
      en: 'European ocean and land satellite, in orbit since February 2016. Its radar altimeter works in delayed-Doppler mode over the whole ocean and passes over the same points every 27 days.',
      fr: 'Satellite européen d’observation de l’océan et des terres, en orbite depuis février 2016. Son altimètre radar fonctionne en mode Doppler retardé sur tout l’océan et repasse aux mêmes points tous les 27 jours.',
    },
    phases: [phase('2016-03-01T00:00:00', '2016-06-28T21:57:26', 6, 1, 27, 770)],
  },
  {
    index: 2,
    slug: 'sentinel-3b',
    name: 'Sentinel-3B',
    code: 'S3B',
    fileCodes: ['s3b', 'sentinel3b'],
    agency: 'ESA/EUMETSAT',
    instrument: 'SRAL',
    description: {
      en: 'Twin of Sentinel-3A, in orbit since April 2018. It flies 140 degrees apart from its twin, so that together they measure waves on a track twice as dense.',
      fr: 'Jumeau de Sentinel-3A, en orbite depuis avril 2018. Il vole à 140 degrés de son jumeau : ensemble, ils mesurent les vagues sur des traces deux fois plus serrées.',
    },
    phases: [phase('2018-11-23T09:46:00', '2018-11-23T10:08:38', 19, 101, 27, 770)],
  },
  {
    index: 3,
    slug: 'sentinel-6a',
    name: 'Sentinel-6A Michael Freilich',
    code: 'S6A',
    fileCodes: ['s6a', 'sentinel6a', 'sentinel6amichaelfreilich', 'sentinel6michaelfreilich'],
    agency: 'ESA/EUMETSAT/NASA/NOAA/CNES',
    instrument: 'Poseidon-4',
    description: {
      en: 'Reference mission for sea level since 2022, launched in November 2020. It repeats its track every ten days between 66 degrees south and north.',
      fr: 'Mission de référence pour le niveau de la mer depuis 2022, lancée en novembre 2020. Elle reprend sa trace tous les dix jours, entre 66 degrés sud et nord.',
    },
    phases: [phase('2020-12-17T21:21:30', '2020-12-27T08:33:32', 5, 1, REFERENCE_ORBIT_DAYS, 254)],
  },
  {
    index: 4,
    slug: 'jason-3',
    name: 'Jason-3',
    code: 'J3',
    fileCodes: ['j3', 'j3n', 'j3g', 'jason3'],
    agency: 'CNES/NASA/EUMETSAT/NOAA',
    instrument: 'Poseidon-3B',
    description: {
      en: 'Fourth mission in the line of TOPEX/Poseidon, launched in January 2016. It gave way to Sentinel-6A in 2022 and has moved to other orbits since.',
      fr: 'Quatrième mission de la lignée TOPEX/Poséidon, lancée en janvier 2016. Elle a laissé sa place à Sentinel-6A en 2022 et a changé plusieurs fois d’orbite depuis.',
    },
    phases: [
      phase('2016-02-12T00:00:00', '2016-02-17T10:56:52', 1, 1, REFERENCE_ORBIT_DAYS, 254),
      phase('2022-04-25T00:00:00', '2022-04-29T05:02:49', 301, 1, REFERENCE_ORBIT_DAYS, 254),
      phase('2025-01-30T00:00:00', '2025-02-01T14:52:10', 501, 1, REFERENCE_ORBIT_DAYS, 254),
      // A geodetic orbit without a short repeat: its numbers are still being settled.
      numberingEnds('2025-06-18T00:00:00'),
    ],
  },
  {
    index: 5,
    slug: 'saral',
    name: 'SARAL/AltiKa',
    code: 'SARAL',
    fileCodes: ['al', 'sa', 'saral', 'altika', 'saralaltika'],
    agency: 'ISRO/CNES',
    instrument: 'AltiKa',
    description: {
      en: 'Indian and French satellite with the first altimeter in Ka band, launched in February 2013. Its narrow footprint sees close to the coast; since 2016 its track drifts.',
      fr: 'Satellite indien et français portant le premier altimètre en bande Ka, lancé en février 2013. Son empreinte étroite permet de mesurer près des côtes ; sa trace dérive depuis 2016.',
    },
    // The drifting orbit sinks, so its repeat shortens: a reference a year keeps the numbers right.
    phases: [
      phase('2013-02-25T00:00:00', '2013-03-14T06:04:39', 1, 1, 35, 1002),
      phase('2016-07-04T12:00:00', '2016-07-04T13:18:19', 36, 1, 35.00654, 1002),
      phase('2016-12-26T13:40:15', '2016-12-26T14:05:24', 41, 1, 35.0061, 1002),
      phase('2017-08-28T14:41:44', '2017-08-28T15:06:53', 48, 1, 35.00578, 1002),
      phase('2018-08-13T16:04:58', '2018-08-13T16:30:07', 58, 1, 35.0054, 1002),
    ],
  },
  {
    index: 6,
    slug: 'cryosat-2',
    name: 'CryoSat-2',
    code: 'C2',
    fileCodes: ['c2', 'c2n', 'cryosat2'],
    agency: 'ESA',
    instrument: 'SIRAL',
    description: {
      en: 'Ice mission launched in April 2010 that measures the open ocean too. Its orbit reaches 88 degrees of latitude and takes a year to repeat.',
      fr: 'Mission consacrée aux glaces, lancée en avril 2010, qui mesure aussi l’océan libre. Son orbite atteint 88 degrés de latitude et met un an à se répéter.',
    },
    phases: [phase('2010-07-14T00:00:00', '2011-04-12T11:40:14', 2, 1, 368.239641, 10688)],
  },
  {
    index: 7,
    slug: 'swot',
    name: 'SWOT',
    code: 'SWOT',
    fileCodes: ['swon', 'swot', 'swotn', 'swonc'],
    agency: 'NASA/CNES',
    instrument: 'Poseidon-3C',
    description: {
      en: 'Satellite for surface water and ocean topography, launched in December 2022. Used here is the altimeter that looks straight down, on the orbit of 21 days flown since July 2023.',
      fr: 'Satellite de topographie des océans et des eaux continentales, lancé en décembre 2022. On utilise ici l’altimètre qui vise à la verticale, sur l’orbite de 21 jours suivie depuis juillet 2023.',
    },
    phases: [phase('2023-07-20T00:00:00', '2023-07-21T05:59:31', 301, 1, 20.86455, 584)],
  },
  {
    index: 8,
    slug: 'cfosat',
    name: 'CFOSAT',
    code: 'CFO',
    fileCodes: ['cfo', 'cfosat'],
    agency: 'CNES/CNSA',
    instrument: 'SWIM',
    description: {
      en: 'French and Chinese satellite for waves and wind, launched in October 2018. Used here is the beam of its wave radar that looks straight down.',
      fr: 'Satellite français et chinois dédié aux vagues et au vent, lancé en octobre 2018. On utilise ici le faisceau de son radar à vagues qui vise à la verticale.',
    },
    phases: [],
    // 197 orbits in 13 days.
    passesOfOwnCycle: 394,
  },
]

/** Cycles and passes take five digits each in a pass's id. */
export const MAX_CYCLE = 99_999
export const MAX_PASS_NUMBER = 65_535

const BY_SLUG = new Map(MISSIONS.map((mission) => [mission.slug, mission]))
const BY_INDEX = new Map(MISSIONS.map((mission) => [mission.index, mission]))
const BY_FILE_CODE = new Map(
  MISSIONS.flatMap((mission) => mission.fileCodes.map((code) => [code, mission] as const)),
)

export function missionOfSlug(slug: string): Mission | undefined {
  return BY_SLUG.get(slug)
}

export function missionOfIndex(index: number): Mission | undefined {
  return BY_INDEX.get(index)
}

/** The mission that a file's name or its attribute `platform` tells: `s3a`, `Sentinel-3A`, `SARAL/AltiKa`. */
export function missionOfFileCode(code: string): Mission | undefined {
  return BY_FILE_CODE.get(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}

/** A cycle as a product describes it: `begin` and `end` are turning points of its track, in epoch seconds. */
export function ownCycle(cycle: number, begin: number, end: number, passes: number): OrbitPhase {
  const equator = begin + (end - begin) / passes / 2
  return { from: begin, equator, cycle, pass: 1, days: (end - begin) / DAY, passes }
}

/**
 * The pass in which a satellite is at `time` (epoch seconds), or null where its phases do not cover the time.
 * Rounding to the nearest crossing of the equator makes every point of a half orbit fall in one pass, with a
 * quarter of an orbit to spare on both sides.
 */
export function passAt(phases: readonly OrbitPhase[], time: number): PassNumber | null {
  let current: OrbitPhase | null = null
  for (const candidate of phases) if (candidate.from <= time) current = candidate
  if (current === null || current.passes === 0) return null
  const { equator, cycle, pass, days, passes } = current
  const count = Math.round(((time - equator) * passes) / (days * DAY)) + pass - 1
  const cycles = Math.floor(count / passes)
  return { cycle: cycle + cycles, number: count - cycles * passes + 1 }
}

/** A pass's integer id: the mission's index, five digits of cycle, five of pass; below 2^53. */
export function passId(mission: number, cycle: number, number: number): number {
  return mission * 1e10 + cycle * 1e5 + number
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

/** `S3A_C081_P0517` */
export function externalPassId({ code }: Mission, cycle: number, number: number): string {
  return `${code}_C${pad(cycle, 3)}_P${pad(number, 4)}`
}

/** `s3a-081-517` */
export function satellitePassId({ code }: Mission, cycle: number, number: number): string {
  return `${code.toLowerCase()}-${pad(cycle, 3)}-${pad(number, 3)}`
}

/** `Sentinel-3A cycle 81 pass 517` */
export function passName({ name }: Mission, cycle: number, number: number): string {
  return `${name} cycle ${cycle} pass ${number}`
}
