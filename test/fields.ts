/** Some fields of many objects, for comparing a list at one look. */

/** The values of these fields, a list for each object. */
export function fieldsOf<T, K extends keyof T>(list: readonly T[] = [], ...names: readonly K[]): T[K][][] {
  return list.map((each) => names.map((name) => each[name]))
}

/** The value of one field of each object. */
export function fieldOf<T, K extends keyof T>(list: readonly T[] = [], name: K): T[K][] {
  return list.map((each) => each[name])
}
