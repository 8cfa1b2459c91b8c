/** The buttons of the page and of the map, and the legend. */
import { isUnitsOpen } from './dialogs.tsx'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import { texts } from './language.ts'
import { KINDS, scaleOf } from './mine/units.ts'
import { arcOf } from './map/arc.ts'
import { Button, Icon, Tool } from './pieces.tsx'
import {
  about,
  api,
  beyond,
  buoys,
  keyPrompt,
  map,
  showsGlobe,
  showsSatellites,
  units,
  update,
  view,
} from './store.ts'
import { MAP_END } from './view.ts'
import { theme, toggleTheme } from './theme.ts'

export function PageTools() {
  const isDark = theme.value === 'dark'
  const written = KINDS.map((kind) => scaleOf(kind, units.value).unit).join('·')
  const keyLabel = api.key.value === '' ? texts.tools.enterKey : texts.tools.key
  return (
    <>
      <Tool name="units" label={texts.tools.units(written)} onClick={() => (isUnitsOpen.value = true)}>
        {written}
      </Tool>
      <Tool name="key" label={keyLabel} onClick={() => (keyPrompt.value = '')} />
      <Tool
        name={isDark ? 'sun' : 'moon'}
        label={isDark ? texts.tools.toLight : texts.tools.toDark}
        onClick={toggleTheme}
      />
      <a class="tool" href="docs" title={texts.tools.documentation} aria-label={texts.tools.documentation}>
        <Icon name="book" />
      </a>
    </>
  )
}

export function MapTools() {
  const { satellites } = view.value
  const globe = showsGlobe.value
  return (
    <div id="map-tools">
      <Tool name="plus" label={texts.tools.zoomIn} onClick={() => map.peek()?.zoomIn()} />
      <Tool name="minus" label={texts.tools.zoomOut} onClick={() => map.peek()?.zoomOut()} />
      <Tool
        name="globe"
        label={texts.tools.globe}
        onClick={() => update({ globe: !globe })}
        aria-pressed={globe}
      />
      <Tool
        name="satellite"
        label={texts.tools.satellites}
        onClick={() => update({ satellites: !satellites })}
        aria-pressed={showsSatellites.value}
      />
    </div>
  )
}

/** Pixels around all buoys. */
const FRAME_PIXELS = 40

/** Buoys that the first view leaves out: `5 more to the west`. A press shows all. */
export function Beyond() {
  if (beyond.value.length === 0 || about.value !== '') return null
  const showAll = (): void => {
    const all = buoys.peek() ?? []
    const [west, east] = arcOf(all.map(({ lng }) => lng))
    const lats = all.map(({ lat }) => Math.min(MAP_END, Math.max(-MAP_END, lat)))
    const box: [number, number, number, number] = [west, Math.min(...lats), east, Math.max(...lats)]
    map.peek()?.fitBounds(box, { padding: FRAME_PIXELS, duration: 0 })
  }
  const said = beyond.value.map(({ side, count }) => texts.map.more(count, texts.map.sides[side])).join(', ')
  return <Button id="beyond" class="small" text={said} title={texts.map.showAll} onClick={showAll} />
}

/** Folded on a phone: its map is small. */
export function Legend() {
  const scale = scaleOf('height', units.value)
  const labels = classLabels(scale)
  return (
    <details id="legend" open={!matchMedia('(max-width: 760px)').matches}>
      <summary>{texts.tools.legend(scale.unit)}</summary>
      <p>
        <span>
          <i class="chip" aria-hidden="true" />
          {texts.tools.old}
        </span>
        {showsSatellites.value ? (
          <span>
            <i class="chip ring" aria-hidden="true" style={{ '--height-color': HEIGHT_COLORS[3] }} />
            {texts.tools.bySatellite}
          </span>
        ) : null}
      </p>
      <ol>
        {HEIGHT_COLORS.map((background, i) => (
          <li key={background}>
            <span class="swatch" aria-hidden="true" style={{ background }} />
            {labels[i]}
          </li>
        ))}
      </ol>
    </details>
  )
}
