/** Repeatable chance: numbers that follow from a key and a step alone. */

/** 32-bit mixing by two rounds of multiply and shift (the constants are those published as "lowbias32"). */
export function mix(value: number): number {
  let x = value ^ (value >>> 16)
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = Math.imul(x, 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

/** 32 random bits of (key, index). */
export function randomBits(key: number, index: number): number {
  return mix(key ^ Math.imul(index, 0x9e3779b1))
}

/** A uniform number in [0, 1) of (key, index). */
export function uniform(key: number, index: number): number {
  return randomBits(key, index) / 0x100000000
}

/**
 * A nearly normal number of (key, index): the sum of four random bytes, centred, with unit variance, always
 * within ±3.45.
 */
export function gaussian(key: number, index: number): number {
  const bits = mix(key ^ Math.imul(index, 0x9e3779b1))
  const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24)
  return (sum - 510) * BYTE_SUM_SCALE
}

// The variance of one uniform byte is (256² − 1) / 12.
const BYTE_SUM_SCALE = 1 / Math.sqrt((4 * (256 * 256 - 1)) / 12)

/** The key of a buoy's whole sea, from a seed and its identifier. */
export function siteKey(seed: number, identifier: string): number {
  let key = mix(seed)
  for (let i = 0; i < identifier.length; i++) key = mix(key ^ identifier.charCodeAt(i))
  return key
}
