/**
 * Satellite altimetry along the track (`docs/sources-beyond-buoys.md`): Copernicus Marine's L3 product, or
 * boxes of CFOSAT's L2P. A mission's points in order of time are cut into passes, also across files. Without
 * `virtual_buoys.csv` virtual buoys are points of a grid that a pass ever reaches, so none is on land.
 */
import { join } from 'node:path'
import { BuildError } from '../../system/build-error.ts'
import { boundsOf, type FileTrack, joinTracks, MICRO, trackOf } from './tracks.ts'
import { type Mission, MISSIONS, passAt } from '../../sea/missions.ts'
import type { OpenSource, Sink, SourceContext } from '../source.ts'
import { gridPoints, readVirtualBuoys, SOURCE, VirtualBuoys } from './virtual-buoys.ts'
import { loadNetcdf, withFile } from '../reading/netcdf.ts'
import { doubtIgnored, takeDoubts, listSource, WholeFiles } from '../reading/source-files.ts'
import { entryOf } from '../../system/entry-of.ts'

const TABLE = 'virtual_buoys.csv'

/** Points over all files, at 15 bytes each: eight missions for half a year. */
const MAX_POINTS = 70_000_000

export const openAltimetry: OpenSource = (folder) => ({
  read: (sink, context) => readAltimetry(folder, sink, context),
})

async function readAltimetry(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const listing = await listSource('altimetry', folder)
  const names = listing.files.filter((name) => /\.nc4?$/i.test(name))
  const ignored = listing.files.filter((name) => !names.includes(name) && name !== TABLE)
  doubtIgnored(report, [...ignored, ...listing.folders], 'not .nc')
  if (names.length === 0) throw new BuildError(`altimetry: ${folder} holds no .nc files`)

  sink.source({
    name: SOURCE,
    network: 'satellite',
    credit: 'Generated using E.U. Copernicus Marine Service Information',
    licence: 'Copernicus Marine Service licence',
  })
  const listed = listing.files.includes(TABLE)
  const points = listed ? await readVirtualBuoys(join(folder, TABLE), report) : gridPoints()
  const buoys = new VirtualBuoys(points, sink)
  if (listed) for (let i = 0; i < points.length; i++) buoys.announce(i)

  const tracks = new Map<Mission, FileTrack[]>()
  let total = 0
  const netcdf = await loadNetcdf()
  const files = new WholeFiles('altimetry', report)
  for (const name of names) {
    const path = join(folder, name)
    const file = report.file(path)
    await files.use(path, () => {
      const found = withFile(netcdf, path, (opened) =>
        trackOf(netcdf, opened, name, file, takeDoubts(report, path)),
      )
      total += found.track.time.length
      if (total > MAX_POINTS) throw new BuildError(`altimetry: ${folder} holds too many points; split it`)
      entryOf(tracks, found.mission, () => []).push(found)
      file.end()
    })
  }
  files.expectUsed()
  for (const mission of MISSIONS) {
    const ofMission = tracks.get(mission)
    if (ofMission !== undefined) sendPasses(mission, ofMission, buoys, sink, report)
  }
  buoys.sendRows()
}

function sendPasses(
  mission: Mission,
  files: readonly FileTrack[],
  buoys: VirtualBuoys,
  sink: Sink,
  report: SourceContext['report'],
): void {
  const track = joinTracks(files.map((file) => file.track))
  const cycles = files.flatMap(({ cycle }) => (cycle === null ? [] : [cycle]))
  const phases = [...mission.phases, ...cycles.sort((a, b) => a.from - b.from)]
  const { time, lat } = track
  let unnumbered = 0
  let passes = 0
  let against = 0
  let without = 0
  for (let from = 0, to = 0; from < time.length; from = to) {
    const pass = passAt(phases, time[from])
    for (to = from + 1; to < time.length; to++) {
      const next = passAt(phases, time[to])
      if (next?.number !== pass?.number || next?.cycle !== pass?.cycle) break
    }
    if (pass === null || pass.cycle < 0) {
      unnumbered += to - from
      continue
    }
    passes++
    const climb = lat[to - 1] - lat[from]
    if (Math.abs(climb) > MICRO && climb > 0 !== (pass.number % 2 === 1)) against++
    const observations = buoys.observe(track, from, to)
    if (observations.length === 0) without++
    sink.pass({
      mission: mission.slug,
      ...pass,
      startedAt: time[from],
      endedAt: time[to - 1],
      bounds: boundsOf(track, from, to),
      observations,
    })
  }
  const doubt = takeDoubts(report)
  doubt('unobserved', mission.name, without)
  doubt('unnumbered', mission.name, unnumbered)
  doubt('against', mission.name, against)
}
