/** The panel of one buoy: its name and position, and below them one of two tabs. */
import { Invitation } from '../dialogs.tsx'
import type { SubjectOf } from '../page.ts'
import { Choices, Tool, Whereabouts } from '../pieces.tsx'
import { api, favourites, page, toggle, update } from '../store.ts'
import { Downloads } from './downloads.tsx'
import { Known, Now } from './now.tsx'
import { Seasons } from './seasons.tsx'

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

export function BuoyPanel({ buoy, now, seasons }: SubjectOf<'buoy'>) {
  return (
    <>
      <Whereabouts buoy={buoy} />
      <Choices
        name="tab"
        label="Views"
        options={{ now: 'Now', seasons: 'Seasons' }}
        chosen={page.value.view.tab === 'seasons' ? 'seasons' : 'now'}
        onChoice={(tab) => update({ tab })}
      />
      {now === null ? null : <Now buoy={buoy} now={now} />}
      {seasons === null ? null : <Seasons buoy={buoy} answer={seasons.answer} />}
      <Downloads />
    </>
  )
}

/** Puts the buoy or place on the visitor's list, or takes it off. */
export function Star({ slug, name }: { slug: string; name: string }) {
  const isOn = favourites.value.some((each) => each.slug === slug)
  return (
    <Tool
      name="star"
      id="star"
      class="tool star"
      label="Favourite"
      title={isOn ? 'Remove from favourites' : 'Add to favourites'}
      onClick={() => toggle({ slug, name })}
      aria-pressed={isOn}
    />
  )
}
