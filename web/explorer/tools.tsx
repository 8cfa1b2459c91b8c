/** The buttons of the page and of the map, and the legend. */
import { isUnitsOpen } from './dialogs.tsx'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import { KINDS, scaleOf } from './mine/units.ts'
import { Icon, Tool } from './pieces.tsx'
import { api, choosePass, keyPrompt, map, openPoint, showsSatellites, units, update, view } from './store.ts'
import { theme, toggleTheme } from './theme.ts'

export function PageTools() {
  const isDark = theme.value === 'dark'
  const written = KINDS.map((kind) => scaleOf(kind, units.value).unit).join('\u00a0· ')
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

/** The list of passes is part of the list of buoys. */
function toggleSatellites(): void {
  const satellites = !view.peek().satellites
  if (!satellites) choosePass(null)
  update(satellites ? { satellites, buoy: null, point: null } : { satellites })
}

export function MapTools() {
  const { globe } = view.value
  const aim = (): void => {
    const center = map.peek()?.getCenter().wrap()
    if (center !== undefined) openPoint(center)
  }
  return (
    <div id="map-tools">
      <Tool name="plus" label="Zoom in" onClick={() => map.peek()?.zoomIn()} />
      <Tool name="minus" label="Zoom out" onClick={() => map.peek()?.zoomOut()} />
      <Tool name="globe" label="Globe" onClick={() => update({ globe: !globe })} aria-pressed={globe} />
      <Tool
        name="satellite"
        label="Satellite passes"
        onClick={toggleSatellites}
        aria-pressed={showsSatellites.value}
      />
      <Tool name="aim" label="Conditions at the middle of the map" onClick={aim} />
    </div>
  )
}

export function Legend() {
  const scale = scaleOf('height', units.value)
  const labels = classLabels(scale)
  return (
    <div id="legend">
      <h2>
        Significant wave height, {scale.unit}
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
      </h2>
      <ol>
        {HEIGHT_COLORS.map((background, i) => (
          <li key={background}>
            <span class="swatch" aria-hidden="true" style={{ background }} />
            {labels[i]}
          </li>
        ))}
      </ol>
    </div>
  )
}
