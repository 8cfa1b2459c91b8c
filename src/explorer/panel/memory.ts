/**
 * What a chart keeps while its panel is drawn anew, as after each answer: its zoom, and the time that is
 * read.
 */

export interface Memory {
  range: readonly [number, number] | null
  at: number | null
}

const last = { about: '', memory: { range: null, at: null } as Memory }

/** The memory of the chart about something; that of another one is forgotten. */
export function memoryOf(about: string): Memory {
  if (last.about !== about) Object.assign(last, { about, memory: { range: null, at: null } })
  return last.memory
}
