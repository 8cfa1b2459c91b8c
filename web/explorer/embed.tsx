/** Shows one buoy within the page of somebody else, at `/embed/SLUG`. */
import { render } from 'preact'
import { isOfNow } from './addresses.ts'
import { chosenZone, UTC } from './format.ts'
import { Latest, Now } from './panel/now.tsx'
import { External, Heading, Instead, Note, Whereabouts } from './pieces.tsx'
import type { Subject } from './page.ts'
import { answers, byId, clock, now, page } from './store.ts'

/** A stream of events for each reader of other pages would be too much for what changes twice an hour. */
const REFRESH_MS = 300_000

function Measured({ subject }: { subject: Subject }) {
  if (subject.kind === 'buoy' && subject.now !== null) return <Now buoy={subject.buoy} now={subject.now} />
  if (subject.kind !== 'missing' && subject.kind !== 'guest buoy') return null
  const { answer } = subject
  if (subject.kind === 'missing' || subject.answer.state !== 'here')
    return <Instead of={answer} what="the buoy" />
  const { buoy } = subject.answer.data
  if (buoy === null) return <Note>There is no such buoy.</Note>
  return (
    <>
      <Whereabouts buoy={buoy} />
      <Latest buoy={buoy} zone={chosenZone(page.value.view.zone, UTC.name)} />
    </>
  )
}

function Embedded() {
  const { subject, view } = page.value
  return (
    <>
      <Heading />
      <Measured subject={subject} />
      <p class="note">
        <External href={`../#buoy=${view.buoy}`} text="This buoy in the explorer" />
      </p>
    </>
  )
}

render(<Embedded />, byId('content'))
setInterval(() => {
  if (document.visibilityState === 'hidden') return
  now.value = clock()
  answers.refresh(isOfNow)
}, REFRESH_MS)
