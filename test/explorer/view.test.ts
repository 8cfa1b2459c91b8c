/** The parts of the explorer that need no browser: view in the address, classes of height, `curl` lines. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { CLASS_STARTS, classLabels, classOf, HEIGHT_COLORS } from '../../src/explorer/heights.ts'
import { scaleOf } from '../../src/explorer/mine/units.ts'
import { curlLine } from '../../src/explorer/shell.ts'
import {
  FIRST_VIEW,
  formatView,
  METRICS,
  parseView,
  SEASONS,
  SPANS,
  ZONES,
  type ViewState,
} from '../../src/explorer/view.ts'

const rounded = (low: number, high: number, digits: number) =>
  fc.double({ min: low, max: high, noNaN: true }).map((value) => Number(value.toFixed(digits)) + 0)

const views: fc.Arbitrary<ViewState> = fc
  .record({
    camera: fc.option(
      fc.record({ zoom: rounded(0, 22, 2), lat: rounded(-90, 90, 3), lng: rounded(-180, 180, 3) }),
    ),
    buoy: fc.option(fc.stringMatching(/^[a-z0-9-]{1,40}$/)),
    point: fc.option(fc.record({ lat: rounded(-90, 90, 4), lng: rounded(-180, 180, 4) })),
    tab: fc.constantFrom('now' as const, 'seasons' as const),
    zone: fc.constantFrom(...ZONES),
    satellites: fc.boolean(),
    globe: fc.boolean(),
    span: fc.constantFrom(...SPANS),
    metric: fc.constantFrom(...METRICS),
    season: fc.constantFrom(...SEASONS),
    year: fc.option(fc.integer({ min: 1900, max: 2200 })),
    against: fc.option(fc.integer({ min: 1900, max: 2200 })),
    units: fc.constantFrom(
      {},
      { height: 'ft' as const },
      { speed: 'kn' as const, temperature: 'f' as const },
    ),
  })
  // Without the null prototypes of fast-check's records.
  .map((view) => structuredClone(view))
  .map((view) => ({ ...view, point: view.buoy === null ? view.point : null }))

test('A view written into the address is read back unchanged.', () => {
  fc.assert(
    fc.property(views, (view) => {
      assert.deepEqual(parseView(formatView(view)), view)
    }),
  )
})

test('The first view has an empty address, and any text in an address is a view.', () => {
  assert.equal(formatView(FIRST_VIEW), '')
  assert.deepEqual(parseView(''), FIRST_VIEW)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webFragments()), (fragment) => {
      const view = parseView(fragment)
      assert.deepEqual(parseView(formatView(view)), view)
    }),
  )
  for (const nonsense of [
    'map=1/2',
    'map=1//2',
    'map=99/0/0',
    'map=1/91/0',
    'map=NaN/0/0',
    'buoy=../../x',
    'buoy=<script>',
    'buoy=Anglet',
    'lat=91&lng=0',
    'lat=1',
    'year=x',
    'days=3',
    'zone=mars',
    'units=parsec,<script>',
    'units=',
  ]) {
    assert.deepEqual(parseView(nonsense), FIRST_VIEW, nonsense)
  }
})

test('A key never gets into the address of a view.', () => {
  assert.ok(!formatView(parseView('key=gsw_secret&buoy=anglet')).includes('secret'))
})

test('Every height has one class, named in the legend and coloured on both maps.', () => {
  assert.deepEqual([0, 0.49, 0.5, 0.99, 1, 2.49, 5.99, 6, 25].map(classOf), [0, 0, 1, 1, 2, 3, 5, 6, 6])
  const classes = CLASS_STARTS.length + 1
  for (const [unit, fourth] of [
    ['m', '1.5–2.5'],
    ['ft', '4.9–8.2'],
  ] as const) {
    const labels = classLabels(scaleOf('height', { height: unit, speed: 'kmh', temperature: 'c' }))
    assert.equal(labels.length, classes)
    assert.equal(labels[3], fourth)
  }
  for (const colors of Object.values(HEIGHT_COLORS)) assert.equal(new Set(colors).size, classes)
})

/** Relative luminance (WCAG 2.2). */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test('The colours are in order of lightness, so they differ in grey and in every colour vision.', () => {
  const light = HEIGHT_COLORS.light.map(luminance)
  const dark = HEIGHT_COLORS.dark.map(luminance)
  assert.deepEqual(
    light,
    light.toSorted((a, b) => b - a),
  )
  assert.deepEqual(
    dark,
    dark.toSorted((a, b) => a - b),
  )
})

test('A curl line gives address and key to the shell unchanged, whatever they contain.', () => {
  const words = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(words, words, (address, key) => {
      const line = curlLine(address, key).replace(/^curl/, 'printf %s\\\\n')
      const shown = execFileSync('sh', ['-c', line], { encoding: 'utf8' })
      assert.equal(shown, `-H\nAuthorization: Bearer ${key}\n${address}\n`)
    }),
    { numRuns: 25 },
  )
  assert.equal(curlLine('http://a/', ''), "curl 'http://a/'")
})
