/** The pieces of components. Text goes in as text, so no name from a source can become markup. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Usual } from '../../clients/typescript/groundswell.ts'
import type { Answer } from './answers.ts'
import { ARROW } from './charts/geometry.ts'
import { agoText, DAY_MS, dayText, isOld, position, UTC } from './format.ts'
import type { KnownBuoy } from './guest.ts'
import { classOf, HEIGHT_COLORS } from './heights.ts'
import { type Scale, scaledText, scaleOf } from './mine/units.ts'
import { texts } from './language.ts'
import { titleOf } from './page.ts'
import { announce, api, now, page, units, update } from './store.ts'

/** Strokes of drawings of 24 by 24 units. */
const ICONS = {
  back: 'M15 5l-7 7 7 7',
  book: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  key: 'M8 11a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11.2 12.3L19.5 4M16 7.5l3.5 3.5M13.5 10l2 2',
  minus: 'M5 12h14',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  plus: 'M12 5v14M5 12h14',
  satellite: 'M8 12l4-4 4 4-4 4zM9.5 10.5L5.5 6.5l-2.5 2.5 4 4M14.5 13.5l4 4 2.5-2.5-4-4M13 19a5 5 0 0 0 5-5',
  share: 'M12 15V3M8 7l4-4 4 4M5 12v8h14v-8',
  star: 'M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9L3.5 9.7l5.9-.8z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
} as const

type IconName = keyof typeof ICONS

/** Decoration, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 24 24" class={`icon icon-${name}`} aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  )
}

/** How long ago `time` (ISO 8601) was. */
export function Ago({ time, isVirtual = false }: { time: string; isVirtual?: boolean }) {
  const at = Date.parse(time)
  return (
    <time dateTime={time} class={isOld(at, now.value, isVirtual) ? 'ago old' : 'ago'}>
      {agoText(at, now.value)}
    </time>
  )
}

/** A spot in the colour of a height; a ring for a virtual buoy. */
export function Chip({ height, isRing = false }: { height: number | null; isRing?: boolean }) {
  const scale = scaleOf('height', units.value)
  const style = height === null ? {} : { '--height-color': HEIGHT_COLORS[classOf(height, scale)] }
  return <span class={isRing ? 'chip ring' : 'chip'} aria-hidden="true" style={style} />
}

/** Points where waves or wind from `from` (degrees) go. The text beside it says it. */
export function Arrow({ from }: { from: number }) {
  return (
    <svg class="arrow" viewBox="-8 -8 16 16" aria-hidden="true" style={{ '--turn': `${from}deg` }}>
      <path d={ARROW} />
    </svg>
  )
}

/** Pixels of a sparkline. */
const SPARK = { width: 56, height: 20, edge: 2 } as const

/**
 * The heights of a day as a line over at least the upper half of their scale, with a word for how they
 * change.
 */
export function Spark({ heights }: { heights: readonly number[] }) {
  const [first, last] = [heights[0], heights.at(-1)]
  if (first === undefined || last === undefined || heights.length < 2) return null
  const top = Math.max(...heights, 0.1)
  const bottom = Math.min(...heights, top / 2)
  const x = (i: number): number => SPARK.edge + (i / (heights.length - 1)) * (SPARK.width - 2 * SPARK.edge)
  const y = (height: number): number =>
    SPARK.height - SPARK.edge - ((height - bottom) / (top - bottom)) * (SPARK.height - 2 * SPARK.edge)
  const points = heights.map((height, i) => `${x(i).toFixed(1)} ${y(height).toFixed(1)}`)
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${SPARK.width} ${SPARK.height}`}
      role="img"
      aria-label={texts.buoy.inADay(texts.buoy[turnOf(first, last)])}
    >
      <path d={`M${points.join('L')}`} />
      <circle cx={x(heights.length - 1)} cy={y(last)} r="2" />
    </svg>
  )
}

/** A tenth up or down is not a change. */
const STEADY = 1.1

/** How heights change between two of them. */
export function turnOf(first: number, last: number): 'rising' | 'falling' | 'steady' {
  if (last > first * STEADY) return 'rising'
  return first > last * STEADY ? 'falling' : 'steady'
}

/** Data that the page waits for. */
type Awaited = keyof typeof texts.loading

export function Waiting({ what }: { what: Awaited }) {
  return <p class="waiting">{texts.loading[what]}</p>
}

/** Shown where an answer has not come or never will. `none`: the text where there is nothing to answer. */
export function Instead({ of, what, none }: { of: Answer<unknown>; what: Awaited; none?: string }) {
  if (of.state === 'waiting') return <Waiting what={what} />
  if (of.state === 'here') return null
  const { kind } = of.trouble
  if (none !== undefined && (kind === 'not found' || kind === 'refused')) return <Note>{none}</Note>
  return <p class="trouble box">{texts.troubles[kind]}</p>
}

/** `more` are attributes. */
export function Button({ text, ...more }: { text: string } & ButtonHTMLAttributes) {
  return (
    <button type="button" {...more}>
      {text}
    </button>
  )
}

/** A button without a word: `label` is its name, `children` replace its icon. */
export function Tool({
  name,
  label,
  children,
  ...more
}: { name: IconName | 'units'; label: string } & ButtonHTMLAttributes) {
  return (
    <button type="button" class="tool" id={`tool-${name}`} title={label} aria-label={label} {...more}>
      {name === 'units' ? children : <Icon name={name} />}
    </button>
  )
}

/** A link away from the page. */
export function External({ href, text }: { href: string; text: string }) {
  return (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {text}
    </a>
  )
}

export function Note({ children }: { children: ComponentChildren }) {
  return <p class="note">{children}</p>
}

/** A term and its value in a list of definitions. */
export function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A choice as a row of radio buttons. `options` names each value. */
export function Choices<T extends string>(props: {
  name: string
  label: string
  options: { readonly [value in T]?: string }
  chosen: T
  onChoice: (value: T) => void
}) {
  const { name, label, options, chosen, onChoice } = props
  return (
    <fieldset class="choices">
      <legend class="hidden">{label}</legend>
      {(Object.keys(options) as T[]).map((value) => (
        <label key={value}>
          <input
            type="radio"
            checked={value === chosen}
            onChange={() => onChoice(value)}
            {...{ name, value }}
          />
          <span>{options[value]}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** The head of a panel; `children` are next to its name. */
export function Heading({ children }: { children?: ComponentChildren }) {
  const title = titleOf(page.value, api.isGuest)
  return (
    <div class="title row apart">
      <h2 tabIndex={-1} title={title}>
        <bdi>{title}</bdi>
      </h2>
      {children}
    </div>
  )
}

/** The way from a buoy or a point to the list. */
export function Back() {
  const open = (): void => update({ buoy: null, point: null, tab: 'now' })
  return (
    <button type="button" class="back small row" id="back" onClick={open}>
      <Icon name="back" />
      {texts.panel.all}
    </button>
  )
}

/** Chooses the clock that times are given by. `here` names the zone of the buoy or point. */
export function ZoneSwitch({ here }: { here: string }) {
  return (
    <div class="zone row wraps">
      <span aria-hidden="true">{texts.panel.times}</span>
      <Choices
        name="zone"
        label={texts.panel.zone}
        options={{ buoy: here, utc: 'UTC', viewer: texts.panel.mine }}
        chosen={page.value.view.zone}
        onChoice={(zone) => update({ zone })}
      />
    </div>
  )
}

/** Country, network with identifier, and position, as far as they are known. */
export function Whereabouts({ buoy }: { buoy: Omit<KnownBuoy, 'last_reading'> }) {
  const { country, source, source_identifier: identifier, lat, lng } = buoy
  const network = identifier === undefined ? source : `${source} ${identifier}`
  const parts = [country, network, position(lat, lng)].filter(Boolean)
  // Each part has its own direction: a name in Arabic turns nothing else round.
  return (
    <p class="sub">
      {parts.map((part, i) => (
        <span key={i}>
          {i === 0 ? '' : ' · '}
          <bdi>{part}</bdi>
        </span>
      ))}
    </p>
  )
}

/** A line to copy, with a button. Where a browser refuses, the whole line is shown and selected. */
export function Copy(props: {
  /** The text of the button, and what it copies: its name for screen readers has both. */
  what: string
  label: string
  text: string
  /** Stands in for `text` on the screen. */
  shown?: string
  /** Read out when it has been copied. */
  done: string
  /** Stand before the button. */
  children?: ComponentChildren
}) {
  const { what, label, text, shown = text, done, children } = props
  const code = useRef<HTMLElement>(null)
  const [state, setState] = useState<'new' | 'copied' | 'refused'>('new')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
      announce(done)
    } catch {
      setState('refused')
      // Selected once it is there.
      setTimeout(() => code.current !== null && getSelection()?.selectAllChildren(code.current))
      announce(texts.share.selected)
    }
  }
  const name = state === 'copied' ? texts.share.copied : what
  return (
    <>
      <div class="row wraps">
        {children}
        <Button text={name} aria-label={`${name}: ${label}`} class="small" onClick={() => void copy()} />
      </div>
      <pre tabIndex={0}>
        <code ref={code}>{state === 'refused' ? text : shown}</code>
      </pre>
    </>
  )
}

/** The day (UTC) of a time of the API. */
export const dateText = (time: string): string => dayText(new Date(time), UTC, now.value)

/** A reading that was as high this short a time ago is of the same sea. */
const SAME_SEA_MS = 2 * DAY_MS

/** How usual the last reading is, in a sentence made of what the API says. */
export function usualText(height: number, time: string, scale: Scale, usual: Usual): string {
  const { highest_since: before, highest_since_missing_days: missing } = usual
  const { higher_than_percent: percent, first_year: year } = usual
  const than = texts.climate.higherThan(scaledText(scale, height), percent, year)
  if (before === null) return `${than}, ${texts.climate.highestEver}.`
  if (Date.parse(time) - Date.parse(before) < SAME_SEA_MS) return `${than}.`
  const gaps = missing === 0 ? '' : ` ${texts.climate.missing(missing)}`
  return `${than}, ${texts.climate.highestSince(dateText(before))}${gaps}.`
}
