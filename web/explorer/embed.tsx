/** Shows one buoy within the page of somebody else, at `/embed/SLUG`. */
import { render } from 'preact'
import { isOfNow } from './addresses.ts'
import { Known, Now } from './panel/now.tsx'
import { External, Heading } from './pieces.tsx'
import { answers, byId, clock, now, page } from './store.ts'

/** A stream of events for each reader of other pages would be too much for what changes twice an hour. */
const REFRESH_MS = 300_000

function Embedded() {
  const { subject, view } = page.value
  return (
    <>
      <Heading />
      {subject.kind === 'buoy' && subject.now !== null ? <Now buoy={subject.buoy} now={subject.now} /> : null}
      {subject.kind === 'known' ? <Known {...subject} /> : null}
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
