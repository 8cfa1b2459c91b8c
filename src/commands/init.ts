/** `init`: writes a configuration to begin with, every member explained. */
import { writeFileSync } from 'node:fs'
import { type Setting, text } from '../server/setting.ts'
import { BuildError } from '../system/build-error.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

const INIT_SETTINGS = {
  config: {
    placeholder: 'FILE',
    help: 'the file to write',
    default: 'groundswell.config.json',
    parse: text,
  } satisfies Setting<string>,
} as const

export const init = command({
  settings: INIT_SETTINGS,
  run: async ({ config }) => {
    try {
      writeFileSync(config, CONFIGURATION, { flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new BuildError(`${config}: exists already and is not changed; name another file with --config`)
    }
    print(`${config} is written. It loads the buoys of NDBC, without a key. Then:`)
    print(`  groundswell build --config ${config} --dry-run   shows what would be fetched`)
    print(
      `  groundswell run --config ${config}               fetches, builds, serves, and again every half hour`,
    )
    print(`  groundswell doctor --config ${config}            checks that everything is ready`)
  },
})

/** docs/configuration.md has the whole reference. */
const CONFIGURATION = `// The sources that groundswell builds snapshots from. JSON with comments; the last element of a list may be
// followed by a comma. docs/sources.md documents every kind of source, docs/configuration.md every member.
{
  "sources": [
    {
      // Shown to clients as the network of these buoys.
      "name": "NDBC",
      // One of ndbc, candhis, cmems, erddap, meteofrance, json, altimetry, csv, forecast, tides, demo.
      "kind": "ndbc",
      // Where the files lie, relative to this file. What "fetch" brings is put there.
      "folder": "fetched/ndbc",
      // How old a fetched file may become before it is fetched again: 90s, 30m, 6h, 1d.
      "refresh": "30m",
      // latest_obs.txt has only the buoys that reported lately. The others are kept as they were.
      "complete": false,
      // Shown with the data. Most networks ask for it.
      "credit": "NOAA National Data Buoy Center",
      "licence": "public domain",
      // What is taken: a box, types, stations, or all but some.
      "filter": {
        // "box": { "south": 24, "west": -100, "north": 50, "east": -60 },
        "types": ["buoy", "oilrig", "fixed", "other"],
      },
      "fetch": [
        {
          "url": "https://www.ndbc.noaa.gov/activestations.xml",
          "to": "activestations.xml",
        },
        {
          "url": "https://www.ndbc.noaa.gov/data/latest_obs/latest_obs.txt",
          "to": "latest_obs/latest_obs.txt",
        },
        // Forty-five days of single stations: one file for each.
        {
          "url": "https://www.ndbc.noaa.gov/data/realtime2/{station}.txt",
          "to": "realtime2/{station}.txt",
          "stations": ["41001", "44025", "46026", "51001"],
          // Larger answers are refused.
          "maxBytes": 10000000,
        },
      ],
    },

    // Tables of your own, which any database can export: buoys.csv, sources.csv, readings/*.csv.
    // { "name": "own", "kind": "csv", "folder": "own" },

    // Some 3,000 harbours of the world with their tides. They come with groundswell.
    // { "name": "harbours", "kind": "tides" },

    // A network with a key. The key is not in this file: the environment has it under this name.
    // {
    //   "name": "Candhis",
    //   "kind": "candhis",
    //   "folder": "fetched/candhis",
    //   "refresh": "1h",
    //   "fetch": [
    //     {
    //       "url": "https://candhis.cerema.fr/API/v1/getCampInfos.php?camp={station}",
    //       "to": "getCampInfos_{station}.json",
    //       "stations": ["02911", "06403"],
    //       "headers": { "Authorization": { "env": "CANDHIS_KEY" } },
    //     },
    //   ],
    // },
  ],

  // Where two networks have the same buoy, the network that is listed first keeps it.
  // "prefer": ["Candhis", "NDBC"],
  // Two buoys of these networks that are closer than this (km) are the same.
  // "sameWithinKm": 1,

  // How gently a host is asked: connections at a time, milliseconds between requests.
  "hosts": {
    "www.ndbc.noaa.gov": { "connections": 2, "gapMs": 200 },
  },
}
`
