/** Everything that is loaded when the first chart is needed. */
export { drawReadings } from './readings.ts'
export { drawSeason } from './season.ts'
