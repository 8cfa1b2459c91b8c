import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCsv } from '../../src/sources/csv.ts'
import { openTides } from '../../src/sources/tides-source.ts'
import { folderOf, identifiersOf, record } from './recorder.ts'
import { fieldsOf } from '../fields.ts'

const STATION = {
  name: 'Port  Made\tUp',
  latitude: 47.5,
  longitude: -3,
  type: 'reference',
  source: { name: 'Some Agency', id: '1', url: 'https://tides.example/1' },
  license: { type: 'cc-by-4.0', commercial_use: true },
  datums: { MSL: 2.75, LAT: -0.25, MLLW: 0.5 },
  chart_datum: 'LAT',
  harmonic_constituents: [
    { name: 'M2', amplitude: 1.5, phase: 120 },
    { name: 'LAM2', amplitude: 0.02, phase: 90 },
    { name: 'M1', amplitude: 0.01, phase: 300 },
    { name: 'S4', amplitude: 0, phase: 0 },
    { name: 'ODD9', amplitude: 0.004, phase: 0 },
  ],
}

const lunar = { name: 'M2', amplitude: 5, phase: 10 }

const json = (change: object): string => JSON.stringify({ ...STATION, ...change })

test('A station file gives a harbour with its height above chart datum, known constituents and credit.', async (t) => {
  const folder = await folderOf(t, { 'made_up.json': json({}) })
  const { harbours, doubts, skipped, understood } = await record(openTides, folder)
  assert.deepEqual(harbours, [
    {
      identifier: 'made_up',
      name: 'Port Made Up',
      lat: 47.5,
      lng: -3,
      datumOffset: 3,
      credit: 'Some Agency (cc-by-4.0). https://tides.example/1',
      constituents: [
        { name: 'M2', amplitude: 1.5, phase: 120 },
        { name: 'LAMBDA2', amplitude: 0.02, phase: 90 },
        { name: 'M1', amplitude: 0.01, phase: 300 },
      ],
    },
  ])
  assert.deepEqual(doubts, [])
  assert.deepEqual([...skipped], [['an unknown constituent', 1]])
  assert.deepEqual([...understood.values()], [1])
})

test('TICON counts M1, 2MK5 and 2MO5 from another quarter turn, which is corrected.', async (t) => {
  const names = ['M1', '2MK5', '2MO5', 'M2', 'MK3']
  const folder = await folderOf(t, {
    'a.json': json({
      source: { name: 'TICON-4' },
      harmonic_constituents: names.map((name) => ({ name, amplitude: 0.1, phase: 100 })),
    }),
  })
  const { harbours } = await record(openTides, folder)
  assert.deepEqual(fieldsOf(harbours[0].constituents, 'name', 'phase'), [
    ['M1', 190],
    ['2MK5', 190],
    ['2MO5', 10],
    ['M2', 100],
    ['MK3', 100],
  ])
})

test('Levels in feet become metres, a longitude may be up to 360, and a constituent listed again counts once.', async (t) => {
  const folder = await folderOf(t, {
    'a.json': json({
      units: 'feet',
      longitude: 357,
      datums: { MSL: 10, MLLW: 5, HAT: 15 },
      chart_datum: 'MLLW',
      harmonic_constituents: [lunar, { name: 'N2', amplitude: 1, phase: 9 }, lunar],
    }),
  })
  const { harbours, skipped } = await record(openTides, folder)
  const [{ lng, datumOffset, constituents }] = harbours
  assert.deepEqual([lng, datumOffset], [-3, 1.524])
  assert.deepEqual(fieldsOf(constituents, 'name', 'amplitude'), [
    ['M2', 1.524],
    ['N2', 0.3048],
  ])
  assert.deepEqual([...skipped], [['a constituent that is listed again', 1]])
})

test('The 3N2 of TICON is left out, whatever its size, and that of others has its own speed.', async (t) => {
  const list = [lunar, { name: '3N2', amplitude: 0.1, phase: 1 }, { name: 'MKS2', amplitude: 0.01, phase: 2 }]
  const station = (publisher: string) => json({ source: { name: publisher }, harmonic_constituents: list })
  const folder = await folderOf(t, { 'a.json': station('GESLA via TICON-3'), 'b.json': station('Agency') })
  const { harbours, skipped } = await record(openTides, folder)
  assert.deepEqual(
    harbours.map(({ constituents }) => constituents.map(({ name }) => name)),
    [
      ['M2', 'MKS2'],
      ['M2', '3N2', 'MKS2'],
    ],
  )
  assert.deepEqual([...skipped], [['a constituent with a speed that its publisher contradicts', 1]])
})

test('Stations that cannot or may not be used are named and left out.', async (t) => {
  const broken: { [name: string]: [content: string, reason: RegExp] } = {
    'a.json': ['{"name": "cut', /is not JSON/],
    'b.json': ['[]', /not a reference station/],
    'c.json': ['null', /not a reference station/],
    'd.json': [json({ type: 'subordinate' }), /not a reference station/],
    'e.json': [json({ license: { type: 'cc-by-nc-4.0', commercial_use: false } }), /licence/],
    'f.json': [json({ license: null }), /licence/],
    'g.json': [json({ latitude: 91 }), /position/],
    'h.json': [json({ longitude: '3' }), /position/],
    'i.json': [json({ chart_datum: 'CD' }), /chart datum/],
    'j.json': [json({ datums: { LAT: 0 } }), /mean sea level/],
    'k.json': [json({ harmonic_constituents: [] }), /constituents/],
    'l.json': [json({ harmonic_constituents: [{ name: 'M2', amplitude: -1, phase: 0 }] }), /amplitude/],
    'm.json': [json({ harmonic_constituents: [{ name: 'M2', amplitude: 1, phase: null }] }), /phase/],
    'n.json': [json({ harmonic_constituents: [{ name: 'S4', amplitude: 0, phase: 0 }] }), /no tide/],
    'o.json': [json({ harmonic_constituents: [{ name: 'ODD9', amplitude: 0.4, phase: 0 }] }), /unknown/],
    'p.json': [
      json({ harmonic_constituents: Array(300).fill(STATION.harmonic_constituents[0]) }),
      /constituents/,
    ],
    'p1.json': [json({ units: 'fathoms' }), /unknown unit/],
    'p2.json': [
      json({ harmonic_constituents: [{ name: 'M2', amplitude: 205, phase: 1 }] }),
      /more than 20 m/,
    ],
    'p3.json': [json({ harmonic_constituents: [lunar, { ...lunar, phase: 20 }] }), /M2 twice/],
    'p4.json': [json({ datums: { MSL: 2.75, LAT: -0.25, HAT: 3 } }), /highest astronomical tide/],
    'p5.json': [json({ datums: { MSL: 2.75, LAT: -0.25, HAT: 9 } }), /highest astronomical tide/],
    'q.json': [json({ name: ' ' }), /no name/],
    'r.json': [json({ source: {} }), /source/],
    's.json': [' '.repeat(2 ** 20 + 1), /larger/],
    't.txt': ['hello', /not a JSON file/],
  }
  const files = Object.fromEntries(Object.entries(broken).map(([name, [content]]) => [name, content]))
  const folder = await folderOf(t, { ...files, 'z.json': json({}) })
  const { harbours, examples } = await record(openTides, folder)
  assert.deepEqual(identifiersOf(harbours), ['z'])
  Object.entries(broken).forEach(([name, [, reason]], i) => {
    assert.ok(examples[i].includes(`/${name}: `) && reason.test(examples[i]), examples[i])
  })
  assert.equal(examples.length, Object.keys(broken).length)
})

test('The database, which is also meant without a folder, gives some thousand harbours, each free for commercial use and credited.', async () => {
  const { harbours, skipped, examples } = await record(openTides, 'database')
  assert.ok(harbours.length > 3000, `${harbours.length} harbours`)
  assert.deepEqual((await record(openTides, '')).harbours, harbours)
  assert.equal(new Set(identifiersOf(harbours)).size, harbours.length)
  assert.ok(skipped.get('tide station left out: has a licence that does not allow commercial use')! > 0)
  assert.ok(skipped.get('tide station left out: is not a reference station')! > 0)
  for (const { credit, constituents, datumOffset } of harbours) {
    assert.match(credit, /Neaps tide database/)
    assert.doesNotMatch(credit, /nc-4\.0|BY-NC/i)
    assert.ok(constituents.length > 0 && Math.abs(datumOffset) < 20)
  }
  const brest = harbours.find(({ identifier }) => identifier.startsWith('ticon/brest-'))
  assert.match(brest?.credit ?? '', /^TICON-4 \(cc-by-4\.0\)\. .*CC BY 4\.0/)
  const nameAt = (lat: number, lng: number): string[] =>
    harbours.filter((one) => Math.hypot(one.lat - lat, one.lng - lng) < 0.02).map(({ name }) => name)
  // Positions of the seven harbours, which the database names after each other.
  for (const [lat, lng, name] of [
    [50.71, -2.764, 'West Bay Harbour'],
    [54.282, -0.39, 'Scarborough'],
    [51.57, -2.7, 'Severn Bridge'],
    [50.594, -4.834, 'Port Isaac'],
    [50.812, -0.101, 'Brighton'],
    [50.851, 0.573, 'Hastings Pier'],
    [50.544, -3.492, 'Teignmouth Pier'],
  ] as const)
    assert.deepEqual(nameAt(lat, lng), [name])
  assert.equal(examples.length, 7)
  assert.ok(examples.some((example) => example.includes('West Bay Harbour, not Scarborough')))
})

const CSV = {
  'sources.csv': 'name,network\nA,national\n',
  'buoys.csv': 'source,identifier,name,lat,lng\n',
}

test('The tables harbours.csv and constituents.csv give harbours.', async (t) => {
  const folder = await folderOf(t, {
    ...CSV,
    'harbours.csv':
      'identifier,name,lat,lng,datum_offset,credit\nh1,"Port, Old",47.5,-3,3.25,"Agency, free"\n',
    'constituents.csv': 'harbour,constituent,amplitude,phase\nh1,M2,1.5,120.5\nh1,lambda2,0.02,-90\n',
  })
  const { harbours, bad } = await record(openCsv, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(harbours, [
    {
      identifier: 'h1',
      name: 'Port, Old',
      lat: 47.5,
      lng: -3,
      datumOffset: 3.25,
      credit: 'Agency, free',
      constituents: [
        { name: 'M2', amplitude: 1.5, phase: 120.5 },
        { name: 'LAMBDA2', amplitude: 0.02, phase: -90 },
      ],
    },
  ])
})

test('Faulty lines of harbours.csv and constituents.csv are reported by file and line.', async (t) => {
  const folder = await folderOf(t, {
    ...CSV,
    'harbours.csv': `identifier,name,lat,lng,datum_offset,credit
h1,Port,47.5,-3,3.25,Agency
h1,Port,47.5,-3,3.25,Agency
,Port,47.5,-3,3.25,Agency
h2,,47.5,-3,3.25,Agency
h3,Port,97.5,-3,3.25,Agency
h4,Port,47.5,-183,3.25,Agency
h5,Port,47.5,-3,325,Agency
h6,Port,47.5,-3,3.25,
h7,Empty,47.5,-3,3.25,Agency
`,
    'constituents.csv': `harbour,constituent,amplitude,phase
h1,M2,1.5,120
h1,m2,1.5,120
h9,M2,1.5,120
h1,XY,1.5,120
h1,S2,-1,120
h1,S2,1e3,120
h1,S2,1,361
h7,S2,0,0
`,
  })
  const { harbours, bad, doubts } = await record(openCsv, folder)
  assert.deepEqual(
    harbours.map(({ identifier, constituents }) => [identifier, constituents.length]),
    [['h1', 1]],
  )
  assert.deepEqual(bad, [
    'harbours.csv:3 a harbour with this identifier is listed above',
    'harbours.csv:4 identifier is not 1 to 64 characters without quotes',
    'harbours.csv:5 name is empty',
    'harbours.csv:6 lat is not a number from -90 to 90',
    'harbours.csv:7 lng is not a number from -180 to 180',
    'harbours.csv:8 datum_offset is not a number from -20 to 20',
    'harbours.csv:9 credit is empty',
    'constituents.csv:3 this constituent is listed above',
    'constituents.csv:4 this harbour is not in harbours.csv',
    'constituents.csv:5 constituent is not the name of a tidal constituent',
    'constituents.csv:6 amplitude is not a number from 0 to 20',
    'constituents.csv:7 amplitude is not a number from 0 to 20',
    'constituents.csv:8 phase is not a number from -360 to 360',
  ])
  assert.ok(doubts.includes('a harbour without a tide is left out × 1: h7'))
})
