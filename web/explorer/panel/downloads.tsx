/** The box at the end of a panel: what it shows as files, and the calls behind it as curl lines to copy. */
import { signal } from '@preact/signals'
import { curlLine, forecastAddress, mapAddress, readingsAddress, seriesAddress } from '../addresses.ts'
import { ApiTrouble } from '../api.ts'
import { WhereKeysComeFrom } from '../dialogs.tsx'
import { clockTime, UTC } from '../format.ts'
import { texts } from '../language.ts'
import { namesOf } from '../mine/units.ts'
import { metricOf } from '../page.ts'
import { Copy, Note } from '../pieces.tsx'
import { announce, api, page } from '../store.ts'

/** Formats of files, in the order of their links. Each is a value of `format` in the API. */
const FILE_FORMATS = { csv: 'CSV', geojson: 'GeoJSON', parquet: 'Parquet' } as const

/** A download: its name, the address without a format, and the formats of files. */
type Offer = readonly [label: string, address: string, ...formats: (keyof typeof FILE_FORMATS)[]]

/** The addresses of files that are on their way: a second press starts no second one. */
const underWay = new Set<string>()
/** How the last download went, and the address of what it was of. */
const said = signal({ of: '', text: '', isTrouble: false })

function offers(): Offer[] {
  const { subject, view } = page.value
  switch (subject.kind) {
    case 'list':
      return [
        [texts.downloads.all, mapAddress(api), 'csv', 'geojson'],
        [texts.downloads.day, api.address('/readings'), 'csv', 'geojson', 'parquet'],
      ]
    case 'point':
      return [[texts.downloads.forecast, forecastAddress(api, subject.point), 'csv']]
    case 'buoy': {
      const { climate } = subject
      if (climate !== null) {
        return namesOf(climate).map((part) => [texts.climate[part], climate[part].address, 'csv'])
      }
      const { buoy, past, forecast } = { ...subject, ...subject.now }
      if (past === undefined || forecast === undefined) {
        const season = { metric: metricOf(buoy, view), season: view.season }
        return [[texts.downloads.season, seriesAddress(api, buoy.slug, season), 'csv']]
      }
      const { answer } = past
      const shown = answer.state === 'here' ? answer.data : { time: [] }
      const { time } = 'time' in shown ? shown : shown.buckets
      const [start, end] = [time[0], time.at(-1)]
      return [
        ...(start === undefined || end === undefined
          ? []
          : [
              [
                texts.downloads.readings,
                readingsAddress(api, buoy.slug, start, end),
                'csv',
                'geojson',
                'parquet',
              ] as const,
            ]),
        [texts.downloads.forecast, forecast.address, 'csv'],
        [texts.downloads.buoy, subject.address],
      ]
    }
    case 'known':
      return []
  }
}

export function Downloads() {
  if (api.isGuest) return null
  const all = offers()
  const { of, text, isTrouble } = said.value
  const isShown = all.some(([, address]) => address === of)
  return (
    <details class="calls" id="downloads">
      <summary>{texts.downloads.title}</summary>
      {all.map((offer) => (
        <Row key={offer[0]} offer={offer} />
      ))}
      <p id="download-said" class={isShown && isTrouble ? 'trouble box' : 'note'}>
        {isShown ? text : ''}
      </p>
      <Note>{api.key.value === '' ? texts.downloads.withoutKey : texts.downloads.withKey}</Note>
      {api.key.value === '' ? <WhereKeysComeFrom /> : null}
    </details>
  )
}

const HIDDEN_KEY = 'YOUR_KEY'

function Row({ offer: [label, address, ...formats] }: { offer: Offer }) {
  const whole = new URL(address, document.baseURI).href
  return (
    <div class="call" role="group" aria-label={label}>
      <p class="call-head row">{label}</p>
      {/* The key is copied but not shown, as screens are shared. */}
      <Copy
        key={address}
        what={texts.downloads.copyCurl}
        label={label}
        text={curlLine(whole, api.key.value || HIDDEN_KEY)}
        shown={curlLine(whole, HIDDEN_KEY)}
        done={texts.downloads.copied}
      >
        {formats.map((format) => (
          <FileLink key={format} {...{ label, address, format }} />
        ))}
      </Copy>
    </div>
  )
}

/** A link, so that its address can be copied and opened elsewhere; a press sends the visitor's key along. */
function FileLink(props: { label: string; address: string; format: keyof typeof FILE_FORMATS }) {
  const { label, address, format } = props
  const href = `${address}${address.includes('?') ? '&' : '?'}format=${format}`
  const save = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    void download(address, href, `groundswell.${format}`)
  }
  return (
    <a class="small" href={href} aria-label={`${FILE_FORMATS[format]}: ${label}`} onClick={save}>
      {FILE_FORMATS[format]}
    </a>
  )
}

/** A browser reads the bytes after the press, and is done by then. */
const RELEASE_MS = 60_000

/** `of` is the address of the offer, `otherwise` the name of a file that the server does not name. */
async function download(of: string, address: string, otherwise: string): Promise<void> {
  if (underWay.has(address)) return
  underWay.add(address)
  say(of, texts.loading.file)
  try {
    const { bytes, name = otherwise } = await api.file(address)
    const href = URL.createObjectURL(bytes)
    Object.assign(document.createElement('a'), { href, download: name }).click()
    setTimeout(() => URL.revokeObjectURL(href), RELEASE_MS)
    say(of, texts.downloads.saved(name))
  } catch (error) {
    say(of, failureText(error), true)
  } finally {
    underWay.delete(address)
  }
}

function say(of: string, text: string, isTrouble = false): void {
  said.value = { of, text, isTrouble }
  announce(text)
}

function failureText(error: unknown): string {
  if (!(error instanceof ApiTrouble)) return texts.downloads.noFile
  const { kind, again } = error
  const renewed =
    kind === 'quota' && again !== null ? texts.downloads.renewed(clockTime(new Date(again), UTC)) : ''
  return texts.downloads.failed(texts.troubles[kind] + renewed)
}
