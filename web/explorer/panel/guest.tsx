/** The panels of a visitor without a key, where the explorer asks for one, and the way to a key. */
import type { Answer } from '../answers.ts'
import type { ActiveBuoy } from '../api.ts'
import { WhereKeysComeFrom } from '../dialogs.tsx'
import { chosenZone, UTC } from '../format.ts'
import { type GuestBuoy, NEAR_KM } from '../guest.ts'
import type { SubjectOf } from '../page.ts'
import { Back, Button, Heading, Instead, Note, Whereabouts } from '../pieces.tsx'
import { keyPrompt, page } from '../store.ts'
import { FilesAndCalls } from './boxes.tsx'
import { BuoyRows, NearestBuoys, NearMe } from './list.tsx'
import { Latest } from './now.tsx'

export function GuestList({ buoys: answer }: { buoys: Answer<{ buoys: readonly ActiveBuoy[] }> }) {
  const buoys = answer.state === 'here' ? answer.data.buoys : []
  return (
    <>
      <Heading>
        <NearMe />
      </Heading>
      <Invitation text="Charts, forecast, tide and seasons need an API key. Search and the newest readings need none." />
      <Instead of={answer} what="the buoys" none="No buoy has reported in the last 24 hours." />
      {buoys.length === 0 ? null : (
        <>
          <p class="sub">A selection of buoys; move the map to see more.</p>
          <BuoyRows buoys={buoys} />
          <FilesAndCalls />
        </>
      )}
    </>
  )
}

export function GuestBuoyPanel({ answer }: { answer: Answer<{ buoy: GuestBuoy | null }> }) {
  const buoy = answer.state === 'here' ? answer.data.buoy : null
  if (buoy === null) {
    const isUnknown = answer.state === 'here'
    return (
      <>
        <Back />
        <Heading text={isUnknown ? 'No such buoy' : page.value.title} />
        {isUnknown ? <Note>No buoy of this name can be found without a key.</Note> : null}
        <Instead of={answer} what="the buoy" />
        <Invitation text="With an API key you can also open a buoy by its number." />
      </>
    )
  }
  const { last_reading: reading } = buoy
  return (
    <>
      <Back />
      <Heading />
      <Whereabouts buoy={buoy} />
      {reading === null ? (
        <Note>No public reading in the last 24 hours.</Note>
      ) : (
        <Latest buoy={buoy} zone={chosenZone(page.value.view.zone, UTC.name)} />
      )}
      <Invitation text="Its chart, forecast, tide and seasons need an API key." />
    </>
  )
}

export function GuestPointPanel({ point, near: { answer } }: SubjectOf<'guest point'>) {
  const none = `No buoy within ${NEAR_KM} km has reported in the last 24 hours.`
  return (
    <>
      <Back />
      <Heading />
      <Instead of={answer} what="the nearest buoys" none={none} />
      {answer.state !== 'here' ? null : (
        <>
          <NearestBuoys of={point} />
          <FilesAndCalls />
        </>
      )}
      <Invitation text="Forecast and tide of this point need an API key." />
    </>
  )
}

function Invitation({ text }: { text: string }) {
  return (
    <div class="invitation box">
      <p>{text}</p>
      <Button text="Enter a key" class="primary" id="invite-key" onClick={() => (keyPrompt.value = '')} />
      <WhereKeysComeFrom />
    </div>
  )
}
