/** Texts in CSV (RFC 4180), safe to open in a spreadsheet. */

/** Beginnings of formulas (OWASP, "CSV Injection"). Some spreadsheets take full-width forms for ASCII. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
const TO_QUOTE = /[",\r\n]/

/** A text as one field: an apostrophe before what a spreadsheet would calculate. */
export function csvText(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return TO_QUOTE.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
