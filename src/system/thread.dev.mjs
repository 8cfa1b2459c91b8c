// Node 20 cannot start a worker from a .ts file, not even under tsx. This file registers tsx in the new
// thread, then imports the module that the thread was started for.
import { register } from 'tsx/esm/api'

register()
await import(process.argv[2])
