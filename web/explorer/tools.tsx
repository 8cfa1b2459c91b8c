/** The buttons of the page and of the map, and the legend. */
import { isUnitsOpen } from './dialogs.tsx'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import { KINDS, scaleOf } from './mine/units.ts'
import { Icon, Tool } from './pieces.tsx'
import { api, keyPrompt, map, showsGlobe, showsSatellites, units, update, view } from './store.ts'
import { theme, toggleTheme } from './theme.ts'

export function PageTools() {
  const isDark = theme.value === 'dark'
  const written = KINDS.map((kind) => scaleOf(kind, units.value).unit).join('·')
  const keyLabel = api.key.value === '' ? 'Enter an API key' : 'API key'
  return (
    <>
      <Tool name="units" label={`Units: ${written}`} onClick={() => (isUnitsOpen.value = true)}>
        {written}
      </Tool>
      <Tool name="key" label={keyLabel} onClick={() => (keyPrompt.value = '')} />
      <Tool
        name={isDark ? 'sun' : 'moon'}
        label={`Switch to ${isDark ? 'light' : 'dark'} colours`}
        onClick={toggleTheme}
      />
      <a class="tool" href="docs" title="API documentation" aria-label="API documentation">
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
      <Tool name="plus" label="Zoom in" onClick={() => map.peek()?.zoomIn()} />
      <Tool name="minus" label="Zoom out" onClick={() => map.peek()?.zoomOut()} />
      <Tool name="globe" label="Globe" onClick={() => update({ globe: !globe })} aria-pressed={globe} />
      <Tool
        name="satellite"
        label="Points measured by satellites"
        onClick={() => update({ satellites: !satellites })}
        aria-pressed={showsSatellites.value}
      />
    </div>
  )
}

/** Folded on a phone: its map is small. */
export function Legend() {
  const scale = scaleOf('height', units.value)
  const labels = classLabels(scale)
  return (
    <details id="legend" open={!matchMedia('(max-width: 760px)').matches}>
      <summary>Significant wave height, {scale.unit}</summary>
      <p>
        <span>
          <i class="chip" aria-hidden="true" />
          over 3 h old
        </span>
        {showsSatellites.value ? (
          <span>
            <i class="chip ring" aria-hidden="true" style={{ '--height-color': HEIGHT_COLORS[3] }} />
            by satellite
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
