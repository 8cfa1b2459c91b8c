// Node 20 cannot start a worker from a .ts file, not even under tsx. This file registers tsx in the new
// thread, unless the tests have registered hooks of theirs, then imports the module that the thread was
// started for.
if (globalThis.groundswellReadsTypeScript !== true) (await import('tsx/esm/api')).register()
await import(process.argv[2])
