/** Which requests the access log shows: `errors,slow=50ms,1%`. */

export interface AccessRules {
  /** Shows requests with a status of 400 and above. */
  readonly errors: boolean
  /** Shows requests that take at least this, milliseconds; Infinity shows none for being slow. */
  readonly slowMs: number
  /** Share of the other requests that is shown, 0…1. */
  readonly share: number
}

const MS_OF_UNIT: { readonly [unit: string]: number } = { us: 0.001, ms: 1, s: 1000 }

/** Null for an empty text: no access log. @throws Error with a message that fits behind "expected " */
export function parseAccessRules(text: string): AccessRules | null {
  if (text.trim() === '') return null
  const rules = { errors: false, slowMs: Infinity, share: 0 }
  const seen = new Set<string>()
  for (const rule of text.split(',').map((each) => each.trim())) {
    const slow = /^slow=([0-9]{1,6}(?:\.[0-9]{1,3})?)(us|ms|s)$/.exec(rule)
    const share = /^([0-9]{1,3}(?:\.[0-9]{1,6})?)%$/.exec(rule)
    const kind = slow !== null ? 'slow' : share !== null ? 'share' : rule
    if (seen.has(kind)) throw new Error(`each rule once; ${EXPECTED}`)
    seen.add(kind)
    if (rule === 'errors') rules.errors = true
    else if (slow !== null) rules.slowMs = Number(slow[1]) * MS_OF_UNIT[slow[2]]
    else if (share !== null && Number(share[1]) <= 100) rules.share = Number(share[1]) / 100
    else throw new Error(EXPECTED)
  }
  return rules
}

const EXPECTED =
  'rules with commas between them: errors, slow=TIME such as slow=50ms, a percentage such as 1%'
