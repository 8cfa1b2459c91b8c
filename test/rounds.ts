/** How much a test does: `few` in every run, `many` in the nightly tier, by GROUNDSWELL_NIGHTLY. */
export const rounds = (few: number, many: number): number =>
  process.env['GROUNDSWELL_NIGHTLY'] === '1' ? many : few
