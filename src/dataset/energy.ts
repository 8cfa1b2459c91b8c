/** Energy of a wave, deep water: ⅛ρgH² · gT²/2π, ρ 1025 kg/m³, g 9.81 m/s². */

/** kJ per metre of crest of a wave of 1 m and 1 s. */
export const ENERGY_FACTOR = ((1 / 8) * 1025 * 9.81 * 9.81) / (2 * Math.PI) / 1000

/** kJ per metre of crest, from a height in m and a period in s. Null unless both are above 0. */
export function waveEnergy(height: number | null, period: number | null): number | null {
  if (height === null || period === null || height <= 0 || period <= 0) return null
  return roundedEnergy(height, period)
}

/** As `waveEnergy` for a height and a period above 0, rounded. */
export function roundedEnergy(height: number, period: number): number {
  return Math.round(ENERGY_FACTOR * height * height * period * period)
}
