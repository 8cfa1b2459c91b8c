/** Shows one buoy within the page of somebody else, at `/embed/SLUG`; as a card at `/embed/SLUG#tab=card`. */
import { render } from 'preact'
import type { Usual } from '../../clients/typescript/groundswell.ts'
import { isOfNow } from './addresses.ts'
import type { KnownBuoy } from './guest.ts'
import { texts } from './language.ts'
import { scaledText } from './mine/units.ts'
import { heightsOf, type Trend } from './page.ts'
import { From } from './panel/ahead.tsx'
import { Known, Now } from './panel/now.tsx'
import { Ago, Chip, External, Heading, Note, Spark, usualText, Waiting } from './pieces.tsx'
import { answers, byId, clock, now, page, scalesOf, SITE } from './store.ts'
import { translateDocument } from './translate.ts'

/** A stream of events for each reader of other pages would be too much for what changes twice an hour. */
const REFRESH_MS = 300_000

function Embedded() {
  const { subject, view, buoys } = page.value
  // Values are written with the decimals of their networks from the first time on.
  if (buoys.state === 'waiting') return <Waiting what="buoy" />
  return (
    <>
      <Heading />
      {subject.kind === 'buoy' && subject.now !== null ? <Now buoy={subject.buoy} now={subject.now} /> : null}
      {subject.kind === 'buoy' && view.tab === 'card' ? (
        <Card buoy={subject.buoy} id={subject.buoy.id} trend={subject.trend} />
      ) : null}
      {subject.kind === 'known' &&
        (view.tab === 'card' && subject.known ? <Card buoy={subject.known} /> : <Known {...subject} />)}
      <p class="note">
        <External href={`../#buoy=${view.buoy}`} text={texts.panel.inExplorer} />
      </p>
    </>
  )
}

function Card({
  buoy,
  id = -1,
  trend = null,
}: {
  buoy: Pick<KnownBuoy, 'source' | 'last_reading'> & { usual?: Usual | null }
  id?: number
  trend?: Trend
}) {
  const { last_reading: reading, usual } = buoy
  if (reading === null) return <Note>{texts.panel.noReading}</Note>
  const scales = scalesOf.value(buoy)
  const { significient_height: height, period, direction, time } = reading
  return (
    <div class="card latest">
      <p class="hero row">
        <Chip height={height} />
        <strong>{scaledText(scales('height'), height)}</strong>
        <Spark heights={heightsOf(trend, id)} />
      </p>
      {usual ? <p class="usual">{usualText(height, time, scales('height'), usual)}</p> : null}
      <p>
        {period == null ? null : scaledText(scales('period'), period)}
        <From degrees={direction} />
      </p>
      <p class="age">
        <Ago time={time} />
      </p>
    </div>
  )
}

void translateDocument().then(() => {
  document.title = `${SITE} · ${texts.page.embedded}`
  render(<Embedded />, byId('content'))
})
setInterval(() => {
  if (document.visibilityState === 'hidden') return
  now.value = clock()
  answers.refresh(isOfNow)
}, REFRESH_MS)
