/** The rows of the box of downloads: for each offer its formats, its picture, and the address to copy. */
import { ApiTrouble } from '../api.ts'
import { byId, copyText, element } from '../dom.ts'
import { clockTime, UTC } from '../format.ts'
import type { Scene } from '../scene.ts'
import { FILE_FORMATS, fileAddress, type FileFormat, type Offer } from './offers.ts'

export * from './offers.ts'

const QUERY = /\?.*$/
const NOTHING = 'Search for a buoy to download what you find.'
/** The id of the place where the page shows how a download went. */
const SAID = 'download-said'

/** Addresses and names of files that are on their way: a second press starts no second one. */
const underWay = new Set<string>()
/** How the last download went, and what it was of: a panel that is drawn anew shows it again. */
let said = { of: '', text: '', isTrouble: false }

/** The box that was filled last. */
let refill = (): void => {}
// What is searched for is among the offers.
byId('query').addEventListener('input', () => refill())

/** Draws the rows into `body`, again while the visitor searches. */
export function fill(body: HTMLElement, scene: Scene, offersNow: () => readonly Offer[]): void {
  refill = () => {
    if (body.isConnected) draw(body, scene, offersNow())
  }
  draw(body, scene, offersNow())
}

function draw(body: HTMLElement, scene: Scene, offers: readonly Offer[]): void {
  const isShown = offers.some(({ address }) => address === said.of)
  body.replaceChildren(
    offers.length === 0 ? element('p', { class: 'note' }, NOTHING) : '',
    ...offers.map((offer, i) => row(scene, offer, i)),
    element(
      'p',
      { id: SAID, class: isShown && said.isTrouble ? 'trouble' : 'note' },
      isShown ? said.text : '',
    ),
  )
}

function row(scene: Scene, offer: Offer, place: number): HTMLElement {
  const { label, formats, picture = null } = offer
  const [first] = formats
  const link = new URL(first === undefined ? offer.address : fileAddress(offer, first), document.baseURI).href
  const code = element('code', {}, link)
  const copy = element(
    'button',
    {
      type: 'button',
      class: 'small',
      id: `download-${place}-link`,
      'aria-label': `Copy link: ${label}`,
      onclick: () => void copyLink(scene, label, copy, code),
    },
    'Copy link',
  )
  return element(
    'div',
    { class: 'call', role: 'group', 'aria-label': label },
    element('p', { class: 'call-head' }, label),
    element(
      'div',
      { class: 'files' },
      ...formats.map((format) => fileLink(scene, offer, format, `download-${place}-${format}`)),
      picture === null
        ? null
        : element(
            'button',
            {
              type: 'button',
              class: 'small',
              id: `download-${place}-png`,
              'aria-label': `PNG: ${label}`,
              onclick: () =>
                void run(scene, offer, picture.file, async () => {
                  const { pictureOf } = await import('./picture.ts')
                  return { name: picture.file, bytes: await pictureOf(picture) }
                }),
            },
            'PNG',
          ),
      copy,
    ),
    element('pre', { tabindex: 0 }, code),
  )
}

/** A link, so that its address can be copied and opened elsewhere; a press sends the visitor's key along. */
function fileLink(scene: Scene, offer: Offer, format: FileFormat, id: string): HTMLElement {
  const address = fileAddress(offer, format)
  return element(
    'a',
    {
      class: 'small',
      id,
      href: address,
      'aria-label': `${FILE_FORMATS[format]}: ${offer.label}`,
      onclick: (event) => {
        const { ctrlKey, metaKey, shiftKey } = event as MouseEvent
        if (ctrlKey || metaKey || shiftKey) return
        event.preventDefault()
        void run(scene, offer, address, async () => {
          const { bytes, name } = await scene.api.file(address)
          return { bytes, name: name ?? nameOf(address, format) }
        })
      },
    },
    FILE_FORMATS[format],
  )
}

/** The name of a file that the server does not name: it follows the path. */
function nameOf(address: string, format: FileFormat): string {
  const path = address.replace(QUERY, '').split('/').slice(2).join('_')
  return `groundswell_${path.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}.${format}`
}

async function run(
  scene: Scene,
  { address }: Offer,
  what: string,
  made: () => Promise<{ bytes: Blob; name: string }>,
): Promise<void> {
  if (underWay.has(what)) return
  underWay.add(what)
  say(scene, address, 'Loading …')
  try {
    const { bytes, name } = await made()
    save(bytes, name)
    say(scene, address, `Saved ${name}, ${sizeText(bytes.size)}.`)
  } catch (error) {
    say(scene, address, failureText(error), true)
  } finally {
    underWay.delete(what)
  }
}

function say(scene: Scene, of: string, text: string, isTrouble = false): void {
  said = { of, text, isTrouble }
  const place = document.getElementById(SAID)
  if (place !== null) {
    place.className = isTrouble ? 'trouble' : 'note'
    place.textContent = text
  }
  scene.announce(text)
}

/** One sentence: what happened, and what the visitor can do. */
function failureText(error: unknown): string {
  if (!(error instanceof ApiTrouble)) return 'The download failed: this browser could not make the file.'
  switch (error.kind) {
    case 'quota': {
      const at = error.again === null ? '' : ` It is renewed at ${clockTime(new Date(error.again), UTC)} UTC.`
      return `The download failed: this hour’s quota is used up.${at}`
    }
    case 'unauthorized':
      return 'The download failed: the server needs a valid API key.'
    case 'offline':
      return 'The download failed: the connection broke. Try again when you are online.'
    case 'unavailable':
      return 'The download failed: the server cannot answer right now. Try again in a minute.'
    case 'not found':
    case 'refused':
      return `The download failed: ${error.message}`
  }
}

async function copyLink(scene: Scene, label: string, button: HTMLElement, code: HTMLElement): Promise<void> {
  if (await copyText(code.textContent, button, code)) {
    button.setAttribute('aria-label', `Copied link: ${label}`)
    scene.announce('The link was copied. It does not contain your key.')
  } else scene.announce('The link is selected: copy it with your keyboard.')
}

/** A browser reads the bytes after the press, and is done by then. */
const RELEASE_MS = 60_000

function save(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), RELEASE_MS)
}

/** `12 KB`, `3.4 MB` */
function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
}
