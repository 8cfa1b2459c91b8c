/** Starts the explorer. */
import { Explorer } from './explorer.ts'

new Explorer(() => Date.now()).start()
