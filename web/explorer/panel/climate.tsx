/** The climate of a buoy: what is usual, records, storms and return levels, in drawings and tables. */
import type { ComponentChildren, ComponentType } from 'preact'
import type { BuoyDetail } from '../../../clients/typescript/groundswell.ts'
import { cellOf, pointAt } from '../charts/spectrum.ts'
import { DAY_MS, tickNames } from '../format.ts'
import { classLabels, classOf, HEIGHT_COLORS } from '../heights.ts'
import { countText, texts } from '../language.ts'
import { decimalText, namesOf, type Scale, scaledText, valueText } from '../mine/units.ts'
import type { Asked, ClimateAsked } from '../page.ts'
import { Chip, dateText, Instead, Note } from '../pieces.tsx'
import { scalesOf } from '../store.ts'

/** Days of three years: fewer tell nothing of what is usual. */
const LEAST_DAYS = 3 * 365
/** Storms in the list. */
const MOST_STORMS = 10

/** A level is not known to the millimetre, as a height may be. */
const LEVEL_DIGITS = 2

/** Units of drawings, and where their axes are. */
const WIDE = 360
const HIGH = 180
const LEFT = 34
const BOTTOM = 20
const TOP = 8

export function ClimatePanel({ buoy, climate }: { buoy: BuoyDetail; climate: ClimateAsked }) {
  const scale = scalesOf.value(buoy)('height')
  const { noReadings } = texts.buoy
  const { noPeriods, noDirections, noStorms, needs15 } = texts.climate
  // Parts that a buoy has too little data for.
  const none = {
    months: noReadings,
    table: noPeriods,
    rose: noDirections,
    storms: noStorms,
    records: noReadings,
    levels: needs15,
  }
  return (
    <>
      {namesOf(DRAWN).map((part) => {
        const { answer } = climate[part]
        const Drawn = DRAWN[part] as ComponentType<{ data: unknown; scale: Scale }>
        return (
          <section key={part} aria-label={texts.climate[part]}>
            <h3>{texts.climate[part]}</h3>
            <Instead of={answer} what="chart" none={none[part]} />
            {answer.state === 'here' ? <Drawn data={answer.data} scale={scale} /> : null}
          </section>
        )
      })}
    </>
  )
}

/** The component of each part, in this order. */
const DRAWN: { readonly [part in keyof ClimateAsked]: ComponentType<Drawable<part>> } = {
  months: Months,
  table: Scatter,
  rose: Rose,
  storms: Storms,
  records: Records,
  levels: Levels,
}

interface Drawable<P extends keyof ClimateAsked> {
  readonly data: ClimateAsked[P] extends Asked<infer Data> ? Data : never
  readonly scale: Scale
}

/** Steps of an axis from 0 to about `most`: 1, 2 or 5 of some power of ten, four or five of them. */
function stepsTo(most: number): number[] {
  const rough = Math.max(most, 0.1) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step)
}

/** A drawing over lines and numbers of heights up to `most` metres. `children` get the place of a height. */
function Drawing(props: {
  label: string
  most: number
  scale: Scale
  children: (y: (height: number | null | undefined) => number) => ComponentChildren
}) {
  const { label, most, scale, children } = props
  const steps = stepsTo(scale.from(most))
  const placeOf = (value: number): number => HIGH - BOTTOM - (value / steps.at(-1)!) * (HIGH - BOTTOM - TOP)
  return (
    <svg class="climate" viewBox={`0 0 ${WIDE} ${HIGH}`} role="img" aria-label={label}>
      <g class="grid">
        {steps.map((step, i) => (
          <g key={step}>
            <line x1={LEFT} x2={WIDE} y1={placeOf(step)} y2={placeOf(step)} />
            <text x={LEFT - 4} y={placeOf(step) + 4} text-anchor="end">
              {decimalText(step, step % 1 === 0 ? 0 : 1)}
              {i === steps.length - 1 ? ` ${scale.unit}` : ''}
            </text>
          </g>
        ))}
      </g>
      {children((height) => placeOf(scale.from(height ?? 0)))}
    </svg>
  )
}

function Months({ data, scale }: Drawable<'months'>) {
  if (data.start === null || data.end === null) return <Note>{texts.buoy.noReadings}</Note>
  const days = Math.round((Date.parse(data.end) - Date.parse(data.start)) / DAY_MS)
  const width = (WIDE - LEFT) / 12
  const half = width * 0.32
  const names = tickNames().MMM
  return (
    <figure>
      <Note>{texts.climate.about(countText(data.count), dateText(data.start), dateText(data.end))}</Note>
      {days < LEAST_DAYS ? <p class="trouble box">{texts.climate.needsYears(days)}</p> : null}
      <Drawing label={texts.climate.months} most={data.overall.maximum?.value ?? 0} scale={scale}>
        {(y) =>
          data.periods.map(({ count, p5, p25, p50, p75, p95, maximum }, i) => {
            const x = LEFT + (i + 0.5) * width
            const numbers = [p5, p25, p50, p75, p95].map((each) => valueText(scale, each ?? 0))
            return (
              <g key={i}>
                <text class="name" x={x} y={HIGH - 6} text-anchor="middle">
                  {names[i]!.slice(0, 4)}
                </text>
                {count === 0 ? null : (
                  <g class="month">
                    <title>{`${names[i]}: ${numbers.join(' · ')} ${scale.unit}`}</title>
                    <path d={`M${x} ${y(p95)}V${y(p5)}`} />
                    <rect x={x - half} width={2 * half} y={y(p75)} height={Math.max(1, y(p25) - y(p75))} />
                    <path class="median" d={`M${x - half} ${y(p50)}h${2 * half}`} />
                    <circle cx={x} cy={y(maximum?.value)} r="2" />
                  </g>
                )}
              </g>
            )
          })
        }
      </Drawing>
      <figcaption class="note">{texts.climate.boxes}</figcaption>
    </figure>
  )
}

/** Shares of heights by periods, the highest row first. */
function Scatter({ data, scale }: Drawable<'table'>) {
  if (data.bins.length === 0) return <Note>{texts.climate.noPeriods}</Note>
  const columns = [...new Set(data.bins.map(({ x }) => x))]
  const rows = [...new Set(data.bins.map(({ y }) => y))].toSorted((a, b) => b - a)
  const shares = new Map(data.bins.map(({ x, y, share }) => [`${x} ${y}`, share]))
  const most = Math.max(...shares.values())
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={texts.climate.table}>
      <Note>{texts.climate.percentOf(scale.unit)}</Note>
      <table class="shares">
        <thead>
          <tr>
            <td />
            {columns.map((x) => (
              <th key={x} scope="col" children={`${x}`} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((y) => (
            <tr key={y}>
              <th scope="row">{decimalText(scale.from(y), scale.unit === 'ft' ? 0 : 1)}</th>
              {columns.map((x) => {
                const share = shares.get(`${x} ${y}`) ?? 0
                const strength = Math.round(50 * Math.sqrt(share / most))
                const percent = share < 0.0005 ? '·' : decimalText(100 * share, 1)
                return (
                  <td key={x} style={{ '--strength': `${strength}%` }}>
                    {share === 0 ? '' : percent}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const ROSE = 220
const MIDDLE = ROSE / 2
const RADIUS = MIDDLE - 18
const HALF_SECTOR = 10

/** Shares of directions that waves come from, by classes of height. */
function Rose({ data, scale }: Drawable<'rose'>) {
  if (data.bins.length === 0) return <Note>{texts.climate.noDirections}</Note>
  const sectors = Array.from({ length: 16 }, (_, i) => data.bins.filter(({ x }) => x === i * 22.5))
  const most = Math.max(...sectors.map((bins) => bins.reduce((sum, { share }) => sum + share, 0)))
  const points = [texts.north, texts.east, texts.south, texts.west]
  return (
    <figure>
      <svg
        class="climate rose"
        viewBox={`${-MIDDLE} ${-MIDDLE} ${ROSE} ${ROSE}`}
        role="img"
        aria-label={texts.climate.rose}
      >
        <g class="grid">
          <circle r={RADIUS / 2} />
          <circle r={RADIUS} />
          {points.map((point, i) => {
            const { x, y } = pointAt(RADIUS + 10, 90 * i)
            return (
              <text key={point} x={x} y={y + 4} text-anchor="middle">
                {point}
              </text>
            )
          })}
        </g>
        {sectors.map((bins, i) => {
          let sum = 0
          return bins.map(({ y, share }) => {
            const inner = (RADIUS * sum) / most
            sum += share
            const [left, right] = [i * 22.5 - HALF_SECTOR, i * 22.5 + HALF_SECTOR]
            return (
              <path
                key={`${i} ${y}`}
                class="sector"
                d={cellOf(inner, (RADIUS * sum) / most, left, right)}
                style={{ fill: HEIGHT_COLORS[classOf(y, scale)] ?? '' }}
              />
            )
          })
        })}
      </svg>
      <figcaption class="note row wraps">
        {[...new Map(data.bins.map(({ y }) => [classOf(y, scale), y]))]
          .sort(([a], [b]) => a - b)
          .map(([each, height]) => (
            <span key={each} class="row">
              <Chip height={height} />
              {classLabels(scale)[each]}
            </span>
          ))}
        <span>{scale.unit}</span>
        <span>{texts.climate.circle(decimalText(100 * most, 0))}</span>
      </figcaption>
    </figure>
  )
}

/** Storms over the years, and the highest of them as a list. */
function Storms({ data, scale }: Drawable<'storms'>) {
  const { storms, threshold, start, end } = data
  if (storms.length === 0 || threshold === null || start === null || end === null) {
    return <Note>{texts.climate.noStorms}</Note>
  }
  const [first, last] = [Date.parse(start), Date.parse(end)]
  const x = (time: string): number =>
    LEFT + ((Date.parse(time) - first) / Math.max(1, last - first)) * (WIDE - LEFT - 4)
  const highest = storms.toSorted((a, b) => b.peak.height - a.peak.height).slice(0, MOST_STORMS)
  return (
    <>
      <Note>{texts.climate.above(data.count, scaledText(scale, threshold))}</Note>
      <Drawing label={texts.climate.storms} most={highest[0]!.peak.height} scale={scale}>
        {(y) => (
          <>
            {storms.map(({ start: began, peak }) => (
              <path
                key={began}
                class="storm"
                d={`M${x(peak.time).toFixed(1)} ${y(threshold)}V${y(peak.height)}`}
              />
            ))}
            <text class="name" x={LEFT} y={HIGH - 6} children={dateText(start)} />
            <text class="name" x={WIDE - 4} y={HIGH - 6} text-anchor="end" children={dateText(end)} />
          </>
        )}
      </Drawing>
      <ol class="levels">
        {highest.map(({ start: began, duration, peak, cut }) => (
          <li key={began}>
            <b>{scaledText(scale, peak.height)}</b> {dateText(peak.time)} ·{' '}
            {texts.climate.lasted(Math.round(duration))}
            {cut ? '+' : ''}
          </li>
        ))}
      </ol>
    </>
  )
}

function Records({ data, scale }: Drawable<'records'>) {
  if (data.ever === null) return <Note>{texts.buoy.noReadings}</Note>
  const names = tickNames().MMMM
  const cell = ({ value, time, doubtful }: { value: number; time: string; doubtful: boolean }) => (
    <td>
      <b>{scaledText(scale, value)}</b>
      {doubtful ? '?' : ''} <small>{dateText(time)}</small>
    </td>
  )
  const rows = [
    { name: texts.climate.ever, pair: data.ever },
    ...data.months.map((pair) => ({ name: names[(pair.month ?? 1) - 1] ?? '', pair })),
  ]
  return (
    <table>
      <thead>
        <tr>
          <td />
          <th scope="col">{texts.climate.highest}</th>
          <th scope="col">{texts.climate.lowest}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, pair }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cell(pair.greatest)}
            {cell(pair.least)}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Return levels over their periods, with the band of their intervals and the maxima that were measured. */
function Levels({ data, scale }: Drawable<'levels'>) {
  const { levels, maxima, years_left_out: leftOut, parameters } = data
  const levelText = (level: number): string =>
    `${decimalText(scale.from(level), Math.min(LEVEL_DIGITS, scale.digits))} ${scale.unit}`
  const sorted = maxima.map(({ value }) => value).toSorted((a, b) => a - b)
  const highest = sorted.at(-1) ?? 0
  const most = Math.max(highest, ...levels.map(({ level, high }) => high ?? level))
  const higher = leftOut.filter(({ maximum }) => maximum !== null && maximum > highest)
  const last = Math.log(levels.at(-1)?.return_period ?? 100)
  const x = (years: number): number => LEFT + (Math.log(years) / last) * (WIDE - LEFT - 12)
  return (
    <>
      <Drawing label={texts.climate.levels} most={most} scale={scale}>
        {(y) => {
          const outline = (heights: readonly number[]): string[] =>
            heights.map((height, i) => `${x(levels[i]!.return_period).toFixed(1)} ${y(height).toFixed(1)}`)
          // An interval without an end reaches the edge of the drawing.
          const upper = outline(levels.map(({ high }) => high ?? most))
          const lower = outline(levels.map(({ low }) => low ?? 0))
          return (
            <>
              <path class="band" d={`M${[...upper, ...lower.toReversed()].join('L')}Z`} />
              <path class="curve" d={`M${outline(levels.map(({ level }) => level)).join('L')}`} />
              {sorted.map((value, i) => (
                <circle
                  key={i}
                  class="maximum"
                  cx={x(1 / (1 - (i + 1) / (sorted.length + 1)))}
                  cy={y(value)}
                  r="2.5"
                />
              ))}
              {levels.map(({ return_period: years }) => (
                <text key={years} class="name" x={x(years)} y={HIGH - 6} text-anchor="middle">
                  {years}
                </text>
              ))}
            </>
          )
        }}
      </Drawing>
      <ul class="levels">
        {levels.map(({ return_period: years, level, low, high, extrapolated }) => (
          <li key={years}>
            {texts.climate.onceIn(years)} <b>{levelText(level)}</b>{' '}
            <small>
              ({levelText(low ?? 0)}–{high === null ? '∞' : levelText(high)})
              {extrapolated ? ` ${texts.climate.extrapolated}` : ''}
            </small>
          </li>
        ))}
      </ul>
      <Note>{texts.climate.fromYears(maxima.length)}</Note>
      {higher.map(({ year, maximum }) => (
        <p key={year} class="trouble box">
          {texts.climate.tooLow(year, scaledText(scale, maximum ?? 0))}
        </p>
      ))}
      {parameters.errors === null ? <Note>{texts.climate.atBound}</Note> : null}
    </>
  )
}
