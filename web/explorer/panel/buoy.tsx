/** The panel of one buoy: its name and position, and below them one of two tabs. */
import { chosenZone, UTC } from '../format.ts'
import type { SubjectOf } from '../page.ts'
import { Icon, Instead, Whereabouts } from '../pieces.tsx'
import { api, favourites, page, toggle, update } from '../store.ts'
import type { ViewState } from '../view.ts'
import { FilesAndCalls, Invitation } from './boxes.tsx'
import { Latest, Now } from './now.tsx'
import { Seasons } from './seasons.tsx'

/** What is known of a buoy whose details are not there. */
export function Known({ known, answer }: SubjectOf<'known'>) {
  return (
    <>
      {known === null ? null : (
        <>
          <Whereabouts buoy={known} />
          <Latest buoy={known} zone={chosenZone(page.value.view.zone, known.timezone ?? UTC.name)} />
        </>
      )}
      <Instead of={answer} what="the buoy" />
    </>
  )
}

export function KnownPanel(subject: SubjectOf<'known'>) {
  const more =
    subject.known === null
      ? 'With an API key you can also open a buoy by its number.'
      : 'Its chart, forecast, tide and seasons need an API key.'
  return (
    <>
      <Known {...subject} />
      {api.isGuest ? <Invitation text={more} /> : null}
    </>
  )
}

export function BuoyPanel({ buoy, address, now, seasons }: SubjectOf<'buoy'>) {
  const { tab } = page.value.view
  const calls = [
    ...(seasons === null ? [] : [{ label: 'This season over the years', address: seasons.address }]),
    ...(now === null
      ? []
      : [
          { label: 'This buoy', address },
          { label: 'Chart', address: now.chart.address },
          { label: 'Forecast and tide', address: now.conditions.address },
        ]),
  ]
  return (
    <>
      <Whereabouts buoy={buoy} />
      <div role="tablist" class="tabs" aria-label="Views">
        <Tab name="now" label="Now" />
        <Tab name="seasons" label="Seasons" />
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {now === null ? null : <Now buoy={buoy} now={now} />}
        {seasons === null ? null : <Seasons buoy={buoy} answer={seasons.answer} />}
        <FilesAndCalls calls={calls} />
      </div>
    </>
  )
}

/** Puts the buoy on the visitor's list, or takes it off. */
export function Star({ slug, name }: { slug: string; name: string }) {
  const isOn = favourites.value.some((each) => each.slug === slug)
  return (
    <button
      type="button"
      class="tool star"
      id="star"
      title={isOn ? 'Remove from favourites' : 'Add to favourites'}
      aria-label="Favourite"
      aria-pressed={isOn}
      onClick={() => toggle({ slug, name })}
    >
      <Icon name="star" />
    </button>
  )
}

function Tab({ name, label }: { name: ViewState['tab']; label: string }) {
  const isChosen = page.value.view.tab === name
  const onKeyDown = ({ key }: KeyboardEvent): void => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return
    const other = name === 'now' ? 'seasons' : 'now'
    update({ tab: other })
    document.getElementById(`tab-${other}`)?.focus()
  }
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${name}`}
      aria-selected={isChosen}
      aria-controls="tab-panel"
      tabIndex={isChosen ? 0 : -1}
      onClick={() => update({ tab: name })}
      onKeyDown={onKeyDown}
    >
      {label}
    </button>
  )
}
