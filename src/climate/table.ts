/** Samples of heights by another metric, by direction or by month: a scatter table, a wave rose. */
import { civilFromDays, DAY } from '../sea/time.ts'
import type { Samples } from './samples.ts'

/** Bins by their lower edges; both are places, in bins from 0. */
export interface Bin {
  readonly x: number
  readonly y: number
  readonly count: number
}

export interface CountTable {
  /** By x, then y; those without a sample are left out. */
  readonly bins: readonly Bin[]
  /** Samples in all bins, and samples of heights without an x. */
  readonly count: number
  readonly withoutX: number
}

/**
 * @param xOf the bin of a sample of `heights`, or −1 where there is no x; @param yCodes codes in a bin of y
 */
export function countTable(heights: Samples, xOf: (at: number) => number, yCodes: number): CountTable {
  const columns: number[][] = []
  let withoutX = 0
  for (let at = 0; at < heights.length; at++) {
    const x = xOf(at)
    if (x === -1) {
      withoutX++
      continue
    }
    const y = Math.floor(heights.code[at] / yCodes)
    const column = (columns[x] ??= [])
    column[y] = (column[y] ?? 0) + 1
  }
  const bins: Bin[] = []
  columns.forEach((column, x) => column.forEach((count, y) => bins.push({ x, y, count })))
  return { bins, count: heights.length - withoutX, withoutX }
}

/** The place in `other` of the sample at the same time as each of `heights`, or −1. */
export function matched(heights: Samples, other: Samples): Int32Array {
  let next = 0
  return Int32Array.from(heights.time, (time) => {
    while (next < other.length && other.time[next] < time) next++
    return next < other.length && other.time[next] === time ? next : -1
  })
}

/** 0 to 11. */
export const monthOfYear = (epoch: number): number => civilFromDays(Math.floor(epoch / DAY)).month - 1
