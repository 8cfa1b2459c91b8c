// Makes all that the map is drawn from, in a thread beside the rest of the build: it takes a second or two.
import { parentPort } from 'node:worker_threads'
import { basemap } from './basemap.mjs'
import { coastTiles } from './coast.mjs'
import { coastalTowns } from './towns.mjs'

const towns = coastalTowns()
parentPort.postMessage({ basemap: basemap(), coast: [...coastTiles(towns)], towns: JSON.stringify(towns) })
