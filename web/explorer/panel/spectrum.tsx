/**
 * The newest wave spectrum of a buoy: its trains in numbers, density by period or frequency beside the day
 * before, and the estimate over directions. One band is read at a time, by pointer or keys.
 */
import { useState } from 'preact/hooks'
import type { BuoyDetail, ListSpectraAnswer, Spectrum } from '../../../clients/typescript/groundswell.ts'
import {
  type Along,
  type Box,
  discOf,
  frequencyAt,
  lineOf,
  nearestBand,
  placesOf,
  pointAt,
  radiusOf,
  STEPS,
  ticksOf,
} from '../charts/spectrum.ts'
import { chosenZone, compassPoint, dayTimeAndZone, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { decimalText, scaleOf, scaledText } from '../mine/units.ts'
import type { SpectrumAsked } from '../page.ts'
import { Choices, Instead, Note } from '../pieces.tsx'
import { clock, page, units } from '../store.ts'

type Data = ListSpectraAnswer['data']

export function SpectrumPanel({ buoy, spectrum }: { buoy: BuoyDetail; spectrum: SpectrumAsked }) {
  const { newest, before } = spectrum
  const zone = chosenZone(page.value.view.zone, buoy.timezone)
  const data = newest.answer.state === 'here' ? newest.answer.data : null
  const shown = data?.spectra[0]
  const past = before?.answer.state === 'here' ? before.answer.data : null
  const isComparable = past !== null && past.frequencies.join() === data?.frequencies.join()
  return (
    <section aria-label={texts.panel.spectrum}>
      <Instead of={newest.answer} what="spectrum" />
      {data !== null && shown === undefined ? <Note>{texts.spectrum.none}</Note> : null}
      {data === null || shown === undefined ? null : (
        <Drawn
          data={data}
          shown={shown}
          past={(isComparable ? past.spectra[0] : undefined) ?? null}
          zone={zone}
        />
      )}
    </section>
  )
}

/** The data of both pictures; `past` is the spectrum of the day before. */
interface Shown {
  readonly data: Data
  readonly shown: Spectrum
  readonly past: Spectrum | null
}

function Drawn({ data, shown, past, zone }: Shown & { zone: Zone }) {
  const [along, setAlong] = useState<Along>('period')
  const peak = shown.density.indexOf(Math.max(...shown.density))
  const [chosen, setChosen] = useState<number | null>(null)
  const band = Math.min(chosen ?? peak, data.frequencies.length - 1)
  const reading = readingOf({ data, shown, past }, band)
  const timeOf = (spectrum: Spectrum): string => dayTimeAndZone(new Date(spectrum.time), zone, clock())
  return (
    <>
      <Trains shown={shown} />
      <Choices
        name="along"
        label={texts.spectrum.along}
        options={{ period: texts.spectrum.period, frequency: texts.spectrum.frequency }}
        chosen={along}
        onChoice={setAlong}
      />
      <p class="lines small">
        <span class="newest">{timeOf(shown)}</span>
        {past === null ? null : <span class="past">{timeOf(past)}</span>}
      </p>
      <Density {...{ data, shown, past, along, band }} onBand={setChosen} />
      <input
        id="spectrum-band"
        type="range"
        min={0}
        max={data.frequencies.length - 1}
        // On an axis of periods the lowest band is on the right.
        value={along === 'period' ? data.frequencies.length - 1 - band : band}
        aria-label={texts.spectrum.band}
        aria-valuetext={reading}
        onInput={({ currentTarget: { valueAsNumber: at } }) =>
          setChosen(along === 'period' ? data.frequencies.length - 1 - at : at)
        }
      />
      <p class="small" id="spectrum-reading">
        {reading}
      </p>
      {shown.directional_density?.some((each) => each !== null) === true ? (
        <Disc {...{ data, shown, past, band }} onBand={setChosen} />
      ) : (
        <Note>{texts.spectrum.noDirections}</Note>
      )}
    </>
  )
}

const fromText = (degrees: number): string =>
  texts.buoy.from(`${compassPoint(degrees)} ${Math.round(degrees)}°`)

/** The numbers of a band. */
function readingOf({ data, shown, past }: Shown, band: number): string {
  const hz = data.frequencies[band] ?? 0
  const direction = shown.direction[band] ?? null
  const density = (spectrum: Spectrum): string => `${decimalText(spectrum.density[band] ?? 0, 2)} m²/Hz`
  return [
    `${decimalText(1 / hz, 1)} s, ${texts.spectrum.hertz(decimalText(hz, 3))}`,
    density(shown),
    ...(direction === null ? [] : [fromText(direction)]),
    ...(past === null ? [] : [texts.spectrum.dayBefore(density(past))]),
  ].join(' · ')
}

/** The trains by energy, with the numbers that the disc has. */
function Trains({ shown }: { shown: Spectrum }) {
  const scale = scaleOf('height', units.value)
  return (
    <ol class="trains" aria-label={texts.spectrum.trains}>
      {shown.trains.map(({ height, period, direction }) => (
        <li key={period}>
          <b>{scaledText(scale, height)}</b> {decimalText(period, 1)} s
          {direction === null ? '' : `, ${fromText(direction)}`}
        </li>
      ))}
    </ol>
  )
}

const BOX: Box = { width: 320, height: 150 }
/** Room for the texts of the axis, and above the highest density. */
const [BELOW, ABOVE] = [22, 6]

/** The pointer's place in drawing units of a picture `width` wide that begins at `left` and `top`. */
function placeOf(event: PointerEvent, width: number, left: number, top: number): { x: number; y: number } {
  const box = (event.currentTarget as Element).getBoundingClientRect()
  const scale = width / box.width
  return { x: (event.clientX - box.left) * scale + left, y: (event.clientY - box.top) * scale + top }
}

function Density(props: Shown & { along: Along; band: number; onBand: (band: number) => void }) {
  const { data, shown, past, along, band, onBand } = props
  const places = placesOf(data.frequencies, along, BOX)
  const most = Math.max(...shown.density, ...(past?.density ?? []))
  const label = texts.spectrum.density(
    shown.trains.map(({ period }) => `${decimalText(period, 1)} s`).join(', '),
  )
  const read = (event: PointerEvent): void => onBand(nearestBand(places, placeOf(event, BOX.width, 0, 0).x))
  return (
    <svg
      class="density"
      role="img"
      aria-label={label}
      viewBox={`0 ${-ABOVE} ${BOX.width} ${BOX.height + ABOVE + BELOW}`}
      onPointerMove={read}
      onPointerDown={read}
    >
      {ticksOf(data.frequencies, along, BOX).map(({ value, at }) => (
        <g key={value}>
          <path class="grid" d={`M${at} 0V${BOX.height}`} />
          <text x={at} y={BOX.height + 15} text-anchor="middle">
            {along === 'period' ? `${value} s` : texts.spectrum.hertz(decimalText(value, 1))}
          </text>
        </g>
      ))}
      <path class="grid" d={`M0 ${BOX.height}H${BOX.width}`} />
      <text x={2} y={8}>{`${decimalText(most, 2)} m²/Hz`}</text>
      <path class="cursor" d={`M${places[band] ?? 0} 0V${BOX.height}`} />
      {past === null ? null : <path class="past" d={lineOf(places, past.density, most, BOX)} />}
      <path class="newest" d={lineOf(places, shown.density, most, BOX)} />
    </svg>
  )
}

const RADIUS = 100
/** Room for the points of the compass. */
const EDGE = 116
const RINGS = [5, 10, 20]

function Disc({ data, shown, band, onBand }: Shown & { band: number; onBand: (band: number) => void }) {
  const { frequencies, bandwidths, directions = [] } = data
  const steps = discOf(
    { frequencies, bandwidths, directions, densities: shown.directional_density ?? [] },
    RADIUS,
  )
  const read = (event: PointerEvent): void => {
    const { x, y } = placeOf(event, 2 * EDGE, -EDGE, -EDGE)
    const radius = Math.hypot(x, y) / RADIUS
    if (radius <= 1) onBand(nearestBand(frequencies, frequencyAt(radius)))
  }
  const points = [texts.north, texts.east, texts.south, texts.west]
  return (
    <figure class="disc">
      <svg
        role="img"
        aria-label={texts.spectrum.disc}
        viewBox={`${-EDGE} ${-EDGE} ${2 * EDGE} ${2 * EDGE}`}
        onPointerMove={read}
        onPointerDown={read}
      >
        {steps.map((outline, step) => (
          <path key={step} class="cells" d={outline} style={{ opacity: (step + 1) / STEPS.length }} />
        ))}
        <circle class="grid" r={RADIUS} />
        {RINGS.map((period) => (
          <g key={period}>
            <circle class="grid" r={RADIUS * radiusOf(1 / period)} />
            <text x={2} y={-RADIUS * radiusOf(1 / period) - 2}>{`${period} s`}</text>
          </g>
        ))}
        <circle class="cursor" r={RADIUS * radiusOf(frequencies[band] ?? 0)} />
        {points.map((point, i) => {
          const { x, y } = pointAt(108, 90 * i)
          return (
            <text key={point} x={x} y={y} text-anchor="middle" dominant-baseline="central">
              {point}
            </text>
          )
        })}
        {shown.trains.map(({ period, direction }, i) => {
          if (direction === null) return null
          const { x, y } = pointAt(RADIUS * radiusOf(1 / period), direction)
          return (
            <g key={period} class="train" transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}>
              <circle r={8} />
              <text text-anchor="middle" dominant-baseline="central">
                {i + 1}
              </text>
            </g>
          )
        })}
      </svg>
      <figcaption class="small">{texts.spectrum.estimate}</figcaption>
    </figure>
  )
}
