/** How much a test does: `few` in every run, `many` in the nightly tier, by GROUNDSWELL_NIGHTLY. */
export const rounds = (few: number, many: number): number =>
  process.env['GROUNDSWELL_NIGHTLY'] === '1' ? many : few

/** Why a test is left out by day: at night it runs. */
export const BY_NIGHT = rounds(1, 0) === 1 && 'it runs in the nightly tier'
