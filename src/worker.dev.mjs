// Node 20 cannot start a worker from a .ts file, not even under tsx: this registers tsx in the new thread first.
import { register } from 'tsx/esm/api'

register()
await import('./worker.ts')
