/**
 * The harmonic constituents of the tide: speed, argument, and the part of the moon's node over 18.6 years.
 *
 * Arguments and node factors: P. Schureman, "Manual of Harmonic Analysis and Prediction of Tides" (US Coast
 * and Geodetic Survey, Special Publication 98, 1940; equations by number below). Mean longitudes: J. Meeus,
 * "Astronomical Algorithms" (1998). Names of compounds: IHO, "Standard list of tidal constituents", annex B.
 */
import { DAY } from './time.ts'
import tables from './tidal-constituents.json' with { type: 'json' }

const RADIANS = Math.PI / 180

/** Node factors that Schureman gives a formula for; all others are made of these. */
type Node = 'Mm' | 'Mf' | 'O1' | 'K1' | 'J1' | 'OO1' | 'M1' | 'M2' | 'K2' | 'L2'

/** Multiples of T (hour angle of the mean sun) and the mean longitudes s, h, p and p1, then quarter turns. */
type Multiples = readonly [T: number, s: number, h: number, p: number, p1: number, quarters: number]

/** m; the largest tides of the world are 16 m from low to high. */
export const MAX_AMPLITUDE = 20
export interface Constituent {
  readonly name: string
  readonly multiples: Multiples
  /** Node factors with the power of each: f multiplies by the power's size, u adds by its sign. */
  readonly nodes: readonly (readonly [node: Node, power: number])[]
}

/**
 * Schureman's table 2, then constituents of the IHO list that databases give and that are not made of others.
 * The Norwegian Mapping Authority counts SA_KV and S1_KV from the sun's perigee.
 */
const BASIC = tables.basic as unknown as { readonly [name: string]: readonly [...Multiples, node?: Node] }

const GREEK: { readonly [letter: string]: string } = tables.greek

/** R3 is number 383.555 of the TICON manual. */
const ALIASES: { readonly [name: string]: string } = tables.aliases

/** Longer than any name in use. */
const MAX_NAME = 16
/** More than in any compound in use (5MS12 has six); each multiplies a node factor. */
const MAX_PARTS = 16

/** Takes any spelling in use (`LAM2`, `lambda2`, `λ2`); null when the constituent is not known. */
export function constituentOf(spelling: string): Constituent | null {
  if (spelling.length > MAX_NAME) return null
  const name = spelling.replaceAll(/[α-ω]/g, (letter) => GREEK[letter] ?? letter).toUpperCase()
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name
  if (known === 'MSF')
    return compound('MSF', [
      ['S2', 1],
      ['M2', -1],
    ])
  if (known === 'M3') {
    // M3 is a half of three M2 in argument and node; not a compound.
    return { name: known, multiples: [3, -3, 3, 0, 0, 0], nodes: [['M2', 1.5]] }
  }
  if (!Object.hasOwn(BASIC, known)) {
    const members = membersOf(known)
    return members === null ? null : compound(known, members)
  }
  const [T, s, h, p, p1, quarters, node] = BASIC[known]
  return { name: known, multiples: [T, s, h, p, p1, quarters], nodes: node === undefined ? [] : [[node, 1]] }
}

type Member = readonly [name: string, factor: number]

/** Turns a day of the letters in names of compounds; K is K1 or K2, whichever makes the sum come out. */
const LETTERS: { readonly [letter: string]: number } = tables.letters

/** `2MK3` is 2 M2 − K1: it turns three times a day, so parts are subtracted from the right to make three. */
function membersOf(name: string): Member[] | null {
  const [, body, end] = /^((?:[2-9]?[A-Z])+)([1-9]\d?)$/.exec(name) ?? []
  if (body === undefined) return null
  const tokens = [...body.matchAll(/([2-9]?)([A-Z])/g)].map(([, count, letter]) => ({
    letter,
    count: Number(count || 1),
  }))
  const target = Number(end)
  if (tokens.length === 1 && tokens[0].letter !== 'K') {
    // M4 is twice M2, S6 three times S2.
    const [{ letter, count }] = tokens
    const factor = target / LETTERS[letter]
    return count === 1 &&
      LETTERS[letter] === 2 &&
      Number.isInteger(factor) &&
      factor > 1 &&
      factor <= MAX_PARTS
      ? [[`${letter}2`, factor]]
      : null
  }
  if (tokens.reduce((total, { count }) => total + count, 0) > MAX_PARTS) return null
  for (const turnsOfK of [2, 1]) {
    const parts = tokens.map(({ letter, count }) => ({
      turns: letter === 'K' ? turnsOfK : (LETTERS[letter] ?? NaN),
      letter,
      count,
    }))
    let sum = parts.reduce((total, { turns, count }) => total + turns * count, 0)
    for (let i = parts.length - 1; i >= 0 && sum > target; i--) {
      sum -= 2 * parts[i].turns * parts[i].count
      parts[i].count *= -1
    }
    if (sum === target) return parts.map(({ letter, turns, count }) => [`${letter}${turns}`, count])
  }
  return null
}

function compound(name: string, members: readonly Member[]): Constituent {
  const multiples: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0]
  const nodes: [Node, number][] = []
  for (const [member, factor] of members) {
    const [T, s, h, p, p1, quarters, node] = BASIC[member]
    ;[T, s, h, p, p1, quarters].forEach((multiple, i) => (multiples[i] += factor * multiple))
    if (node !== undefined) nodes.push([node, factor])
  }
  return { name, multiples, nodes }
}

/** Arguments and node factors that change evenly from one time to another. */
export interface Motion {
  /** Epoch seconds. */
  readonly from: number
  /** V + u at `from`, radians. */
  readonly argument: Float64Array
  /** Radians per second. */
  readonly speed: Float64Array
  /** Node factor f at `from`. */
  readonly factor: Float64Array
  /** Change of f per second. */
  readonly drift: Float64Array
}

/** Times are epoch seconds some days apart, UT taken as UTC; successive motions join without a step. */
export function motionBetween(constituents: readonly Constituent[], from: number, to: number): Motion {
  const start = stateAt(constituents, from)
  const end = stateAt(constituents, to)
  const span = to - from
  return {
    from,
    argument: start.argument,
    speed: start.speed.map((speed, i) => {
      // The rest after the even turning is the node's part, far below half a turn.
      const rest = (end.argument[i] - start.argument[i] - speed * span) / (2 * Math.PI)
      return speed + ((rest - Math.round(rest)) * 2 * Math.PI) / span
    }),
    factor: start.factor,
    drift: start.factor.map((factor, i) => (end.factor[i] - factor) / span),
  }
}

/** V + u (radians), its rate without the node's part (radians per second), and f. */
function stateAt(
  constituents: readonly Constituent[],
  epoch: number,
): { argument: Float64Array; speed: Float64Array; factor: Float64Array } {
  const { angles, rates, node } = astronomy(epoch)
  const { f, u } = nodeFactors(node, angles[3])
  const argument = new Float64Array(constituents.length)
  const speed = new Float64Array(constituents.length)
  const factor = new Float64Array(constituents.length).fill(1)
  constituents.forEach(({ multiples, nodes }, i) => {
    argument[i] = (multiples[5] * Math.PI) / 2
    for (let k = 0; k < 5; k++) {
      argument[i] += multiples[k] * angles[k]
      speed[i] += multiples[k] * rates[k]
    }
    for (const [name, power] of nodes) {
      argument[i] += power * u[name]
      factor[i] *= powerOf(f[name], Math.abs(power))
    }
    argument[i] %= 2 * Math.PI
  })
  return { argument, speed, factor }
}

/** A whole or half power; `**` has another last digit in some releases of the engine. */
function powerOf(base: number, exponent: number): number {
  let product = exponent % 1 === 0 ? 1 : Math.sqrt(base)
  for (let times = Math.floor(exponent); times > 0; times--) product *= base
  return product
}

/** 2000-01-01 12:00. */
const J2000 = 946_728_000
const CENTURY = 36_525 * DAY

/** Degrees at J2000, per century, per century squared. */
const MEAN_LONGITUDES = {
  s: [218.316_447_7, 481_267.881_234_21, -0.001_578_6],
  h: [280.466_46, 36_000.769_83, 0.000_303_2],
  p: [83.353_246_5, 4069.013_728_7, -0.010_32],
  p1: [282.937_35, 1.719_46, 0.000_46],
  node: [125.044_547_9, -1934.136_289_1, 0.002_075_4],
} as const

/** T, s, h, p, p1 (radians), their rates (radians per second), and the longitude of the ascending node. */
function astronomy(epoch: number): { angles: number[]; rates: number[]; node: number } {
  const centuries = (epoch - J2000) / CENTURY
  const longitude = ([at, per, square]: readonly number[]): number =>
    ((at + (per + square * centuries) * centuries) % 360) * RADIANS
  const rate = ([, per, square]: readonly number[]): number =>
    ((per + 2 * square * centuries) / CENTURY) * RADIANS
  const { s, h, p, p1, node } = MEAN_LONGITUDES
  const moving = [s, h, p, p1]
  const turn = (2 * Math.PI) / DAY
  return {
    // The mean sun is at its highest at noon.
    angles: [((epoch % DAY) - DAY / 2) * turn, ...moving.map(longitude)],
    rates: [turn, ...moving.map(rate)],
    node: longitude(node),
  }
}

type Factors = { [node in Node]: number }

/** f and u (radians) for the longitudes of the moon's node and of its perigee, radians. */
function nodeFactors(node: number, perigee: number): { f: Factors; u: Factors } {
  const { sin, cos, tan, atan, atan2, sqrt, acos, round, PI } = Math
  // Inclination of the moon's orbit to the equator, and where the two cross (equations up to 191).
  const I = acos(0.9137 - 0.03569 * cos(node))
  const N = node - 2 * PI * round(node / (2 * PI))
  const a = atan(1.01883 * tan(N / 2))
  const b = atan(0.64412 * tan(N / 2))
  const nu = a - b
  const xi = N - a - b
  const sinI = sin(I)
  const sin2I = sin(2 * I)
  const cosHalf = cos(I / 2)
  const tanHalf2 = tan(I / 2) ** 2
  const P = perigee - xi
  const fO1 = (sinI * cosHalf ** 2) / 0.38
  const fM2 = powerOf(cosHalf, 4) / 0.9154
  const uM2 = 2 * (xi - nu)
  // Equations 213, 214, 197, 203: how the perigee joins two constituents that records cannot tell apart.
  const overRa = sqrt(1 - 12 * tanHalf2 * cos(2 * P) + 36 * tanHalf2 ** 2)
  const R = atan2(sin(2 * P), 1 / (6 * tanHalf2) - cos(2 * P))
  const ratio = cos(I) / cosHalf ** 2
  const overQa = sqrt(0.25 + 1.5 * ratio * cos(2 * P) + 2.25 * ratio ** 2)
  const Q = atan2((5 * cos(I) - 1) * sin(P), (7 * cos(I) + 1) * cos(P))
  return {
    f: {
      Mm: (2 / 3 - sinI ** 2) / 0.5021,
      Mf: sinI ** 2 / 0.1578,
      O1: fO1,
      K1: sqrt(0.8965 * sin2I ** 2 + 0.6001 * sin2I * cos(nu) + 0.1006),
      J1: sin2I / 0.7214,
      OO1: (sinI * sin(I / 2) ** 2) / 0.0164,
      M1: fO1 * overQa,
      M2: fM2,
      K2: sqrt(19.0444 * sinI ** 4 + 2.7702 * sinI ** 2 * cos(2 * nu) + 0.0981),
      L2: fM2 * overRa,
    },
    u: {
      Mm: 0,
      Mf: -2 * xi,
      O1: 2 * xi - nu,
      K1: -atan2(sin2I * sin(nu), sin2I * cos(nu) + 0.3347),
      J1: -nu,
      OO1: -2 * xi - nu,
      // The argument of M1 has p already.
      M1: -nu - P + Q,
      M2: uM2,
      K2: -atan2(sinI ** 2 * sin(2 * nu), sinI ** 2 * cos(2 * nu) + 0.0727),
      L2: uM2 - R,
    },
  }
}
