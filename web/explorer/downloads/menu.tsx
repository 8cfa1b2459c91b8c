/** The rows of the box of downloads: for each offer its formats, its picture, and the address to copy. */
import { signal } from '@preact/signals'
import { curlLine } from '../addresses.ts'
import { ApiTrouble } from '../api.ts'
import { WhereKeysComeFrom } from '../dialogs.tsx'
import { clockTime, UTC } from '../format.ts'
import { Button, Copy, Note, TROUBLE_TEXTS } from '../pieces.tsx'
import { announce, api } from '../store.ts'
import { FILE_FORMATS, fileAddress, type FileFormat, type Offer, offersNow, type Picture } from './offers.ts'
import { pictureOf } from './picture.ts'

/** Addresses and names of files that are on their way: a second press starts no second one. */
const underWay = new Set<string>()
/** How the last download went, and the address of what it was of. */
const said = signal({ of: '', text: '', isTrouble: false })

/** The box at the end of a panel: what it shows as files, and the calls behind it as curl lines to copy. */
export function Downloads() {
  const offers = offersNow()
  const { of, text, isTrouble } = said.value
  const isShown = offers.some(({ address }) => address === of)
  return (
    <details class="calls" id="downloads">
      <summary>{api.isGuest ? 'Download' : 'Download, or get it from the API'}</summary>
      {offers.length === 0 ? <Note>Search for a buoy to download what you find.</Note> : null}
      {offers.map((offer) => (
        <Row key={offer.label} offer={offer} />
      ))}
      <p id="download-said" class={isShown && isTrouble ? 'trouble box' : 'note'}>
        {isShown ? text : ''}
      </p>
      {api.isGuest ? null : (
        <Note>
          {api.key.value === ''
            ? 'This page works without a key; programs need one in place of YOUR_KEY.'
            : 'The copied curl lines contain your key.'}
        </Note>
      )}
      {api.isOpen.value && api.key.value === '' ? <WhereKeysComeFrom /> : null}
    </details>
  )
}

const HIDDEN_KEY = 'YOUR_KEY'

function Row({ offer }: { offer: Offer }) {
  const { label, address, formats, picture = null } = offer
  const whole = (some: string): string => new URL(some, document.baseURI).href
  const [first] = formats
  const link = first && whole(fileAddress(offer, first))
  const fileOf = async (of: Picture): Promise<File> => new File([await pictureOf(of)], of.file)
  return (
    <div class="call" role="group" aria-label={label}>
      <p class="call-head row">{label}</p>
      {link === undefined ? null : (
        <Copy
          key={link}
          what="Copy link"
          label={label}
          text={link}
          done="The link was copied. It does not contain your key."
          row="row wraps"
        >
          {formats.map((format) => (
            <FileLink key={format} offer={offer} format={format} />
          ))}
          {picture === null ? null : (
            <Button
              text="PNG"
              class="small"
              aria-label={`PNG: ${label}`}
              onClick={() => void run(address, picture.file, () => fileOf(picture))}
            />
          )}
        </Copy>
      )}
      {/* The key is copied but not shown, as screens are shared. A guest's page tells no calls. */}
      {api.isGuest ? null : (
        <Copy
          key={address}
          what="Copy curl"
          label={label}
          text={curlLine(whole(address), api.key.value || HIDDEN_KEY)}
          shown={curlLine(whole(address), HIDDEN_KEY)}
          done="The curl line was copied."
          row="row wraps"
        />
      )}
    </div>
  )
}

/** A link, so that its address can be copied and opened elsewhere; a press sends the visitor's key along. */
function FileLink({ offer, format }: { offer: Offer; format: FileFormat }) {
  const address = fileAddress(offer, format)
  const fetchFile = async (): Promise<File> => {
    const { bytes, name } = await api.file(address)
    return new File([bytes], name ?? `groundswell.${format}`)
  }
  const save = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    void run(offer.address, address, fetchFile)
  }
  return (
    <a class="small" href={address} aria-label={`${FILE_FORMATS[format]}: ${offer.label}`} onClick={save}>
      {FILE_FORMATS[format]}
    </a>
  )
}

/** `of` is the address of the offer, `what` names the file. */
async function run(of: string, what: string, made: () => Promise<File>): Promise<void> {
  if (underWay.has(what)) return
  underWay.add(what)
  say(of, 'Loading …')
  try {
    const file = await made()
    save(file)
    say(of, `Saved ${file.name}.`)
  } catch (error) {
    say(of, failureText(error), true)
  } finally {
    underWay.delete(what)
  }
}

function say(of: string, text: string, isTrouble = false): void {
  said.value = { of, text, isTrouble }
  announce(text)
}

function failureText(error: unknown): string {
  if (!(error instanceof ApiTrouble)) return 'This browser could not make the file.'
  const { kind, again } = error
  const renewed =
    kind === 'quota' && again !== null ? ` It is renewed at ${clockTime(new Date(again), UTC)} UTC.` : ''
  return `The download failed. ${TROUBLE_TEXTS[kind]}${renewed}`
}

/** A browser reads the bytes after the press, and is done by then. */
const RELEASE_MS = 60_000

function save(file: File): void {
  const href = URL.createObjectURL(file)
  Object.assign(document.createElement('a'), { href, download: file.name }).click()
  setTimeout(() => URL.revokeObjectURL(href), RELEASE_MS)
}
