/** Texts in CSV (RFC 4180), safe to open in a spreadsheet. */

/** Spreadsheets take a text that begins like this for a formula. */
const FORMULA = /^[=+\-@\t\r]/
const TO_QUOTE = /[",\r\n]/

/** A text as one field: an apostrophe before what a spreadsheet would calculate. */
export function csvText(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return TO_QUOTE.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
