/** What the addresses of answers are made with, and the colours of the page. */
import type { Api } from './api.ts'

export type Theme = 'light' | 'dark'

export interface Scene {
  readonly api: Api
  /** Epoch milliseconds. */
  readonly clock: () => number
  /** The page shows one buoy within the page of somebody else. */
  readonly isOfOneBuoy?: boolean
}
