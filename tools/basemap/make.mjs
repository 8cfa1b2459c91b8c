// Makes all that the map is drawn from, in a thread beside the rest of the build: it takes a second or two.
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { basemap } from './basemap.mjs'
import { coastTiles } from './coast.mjs'

const towns = JSON.parse(readFileSync(new URL('../../src/sea/towns.json', import.meta.url), 'utf8'))
parentPort.postMessage({ basemap: basemap(), coast: [...coastTiles(towns)] })
