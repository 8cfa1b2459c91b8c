/** Shows one buoy within the page of somebody else, at `/embed/SLUG`. */
import { render } from 'preact'
import { isOfNow } from './addresses.ts'
import { Known, Now } from './panel/now.tsx'
import { External, Heading } from './pieces.tsx'
import type { Subject } from './page.ts'
import { answers, byId, clock, now, page } from './store.ts'

/** A stream of events for each reader of other pages would be too much for what changes twice an hour. */
const REFRESH_MS = 300_000

function Measured({ subject }: { subject: Subject }) {
  if (subject.kind === 'buoy' && subject.now !== null) return <Now buoy={subject.buoy} now={subject.now} />
  return subject.kind === 'known' ? <Known {...subject} /> : null
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
