// Starts the documentation browser without web fonts, telemetry, proxy and assistants, which would ask other
// servers.
const place = document.getElementById('reference')

/** As the explorer keeps the visitor's key, see `explorer/key.ts`. */
const STORAGE_KEY = 'groundswell-key'
const KEY_PATTERN = /^[\x21-\x7e]{1,200}$/
/** The server and the time of the written examples, and the buoy that they ask for. */
const WRITTEN = {
  server: 'http://127.0.0.1:8080',
  time: Date.parse('2026-11-01T06:00:00Z'),
  slug: 'anglet',
  lat: 43.5,
  lng: -1.6,
}
const DAY_MS = 86_400_000
const FAR_KM = 20_016
/** The longest query of the search; the beginning of a longer name finds it, too. */
const MOST_QUERY_CHARACTERS = 100

function keptKey() {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY) ?? ''
  } catch {
    // A browser may forbid both.
    return ''
  }
}

/** What is typed into the field of the key is the explorer's as well, until the browser is closed. */
function shareKey() {
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.placeholder !== 'Token') return
    const key = target.value.trim()
    try {
      if (KEY_PATTERN.test(key)) sessionStorage.setItem(STORAGE_KEY, key)
    } catch {
      // Without storage the key lasts as long as the page.
    }
  })
}

function showContact() {
  const contact = document.getElementById('contact')
  if (contact.dataset.contact === '') return
  contact.textContent = `Keys: ${contact.dataset.contact}`
  contact.hidden = false
}

async function dataOf(address) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(String(answer.status))
  return { snapshot: answer.headers.get('X-Snapshot-Id'), data: (await answer.json()).data }
}

/**
 * A buoy of this server that has a recent reading, by its two public operations; null where there is none.
 */
async function livingBuoy(base) {
  try {
    const { lat, lng } = WRITTEN
    const near = await dataOf(`${base}/buoys/nearest?lat=${lat}&lng=${lng}&max_distance=${FAR_KM}`)
    const { id, name, source, lat: north, lng: east, last_reading: reading } = near.data.buoy
    const query = encodeURIComponent([...name].slice(0, MOST_QUERY_CHARACTERS).join(''))
    const { data } = await dataOf(`${base}/buoys/search?limit=50&query=${query}`)
    const slug = data.buoys.find((buoy) => buoy.id === id)?.slug ?? String(id)
    return {
      id,
      slug,
      time: Date.parse(reading.time),
      snapshot: near.snapshot,
      source,
      lat: north,
      lng: east,
    }
  } catch {
    return null
  }
}

/** The same time of day, as many whole days later as the data are newer than the examples. */
function shifted(text, buoy) {
  const days = Math.floor((buoy.time - WRITTEN.time) / DAY_MS) * DAY_MS
  return text.replaceAll(/\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?\b/g, (date, clock = '') => {
    const at = new Date(Date.parse(date) + days)
    return Number.isNaN(at.getTime()) ? date : at.toISOString().slice(0, 10) + clock
  })
}

/** What the description's examples become: questions that this server has an answer to. */
function exampleFor({ name, example }, buoy) {
  const { id, slug, source, lat, lng, time, snapshot } = buoy
  const [north, south, east, west] = [lat + 1, lat - 1, lng + 1, lng - 1]
  const own = {
    buoy_id: slug,
    reading_id: String(id * 1e10 + time / 1000),
    ids: [id],
    source,
    // Not every server has spots, and nothing public has the country's code.
    country: undefined,
    spot_id: undefined,
    near: `${lat},${lng}`,
    lat,
    lng,
    since: snapshot,
    query: slug,
    timestamp: time / 1000,
    time:
      typeof example === 'string' && example.includes('T')
        ? new Date(time).toISOString().slice(0, 19) + 'Z'
        : new Date(time).toISOString().slice(11, 16),
    date: new Date(time).toISOString().slice(0, 10),
    bounds: JSON.stringify({ north, south, east, west }),
  }
  if (name in own) return own[name]
  if (/^(season_)?(start|end)_year$/.test(name))
    return new Date(time).getUTCFullYear() - (name.includes('start') ? 1 : 0)
  return typeof example === 'string' ? shifted(example, buoy) : example
}

/**
 * Scalar takes `application/geo+json` for `application/json` and shows its examples in place of those of
 * JSON. Types are compared without regard to case, but not by Scalar.
 */
function toldApart(content) {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type.replace('+json', '+JSON'), media]),
  )
}

/** The description with the address of this server, and with examples of its time and of one of its buoys. */
function localized(description, buoy, base) {
  const { info, servers } = description
  // Behind a proxy that takes a prefix off, only the browser knows the whole path.
  const { href, pathname } = new URL(base, location.href)
  const root = href.slice(0, -servers[0].url.length)
  description.servers = [{ url: pathname }]
  for (const { get } of Object.values(description.paths)) {
    const { 200: success } = get.responses
    success.content = toldApart(success.content)
  }
  info.description = info.description.replaceAll(WRITTEN.server, root)
  if (buoy === null) return description
  info.description = shifted(info.description, buoy)
    .replaceAll(`/${WRITTEN.slug}/`, `/${buoy.slug}/`)
    .replaceAll(`query=${WRITTEN.slug}`, `query=${buoy.slug}`)
  for (const { get } of Object.values(description.paths)) {
    for (const parameter of get.parameters) {
      if (parameter.example !== undefined) parameter.example = exampleFor(parameter, buoy)
    }
  }
  return description
}

/** Scalar keeps a choice of colours of its own: it is given the explorer's, which follows it from then on. */
function shareTheme() {
  const { dataset } = document.documentElement
  try {
    localStorage.setItem('colorMode', localStorage.getItem('groundswell-theme') ?? 'system')
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  new MutationObserver(() => {
    const theme = document.body.classList.contains('dark-mode') ? 'dark' : 'light'
    if (theme === dataset.theme) return
    dataset.theme = theme
    try {
      if (localStorage.getItem('colorMode') !== 'system') localStorage.setItem('groundswell-theme', theme)
    } catch {
      // As above.
    }
  }).observe(document.body, { attributes: true, attributeFilter: ['class'] })
}

async function start() {
  shareKey()
  shareTheme()
  showContact()
  const address = place.dataset.description
  const base = address.slice(0, address.lastIndexOf('/'))
  const [description, buoy] = await Promise.all([
    fetch(address).then((answer) => answer.json()),
    livingBuoy(base),
  ])
  show(localized(description, buoy, base))
}

function show(content) {
  Scalar.createApiReference(place, {
    content,
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    documentDownloadType: 'json',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: {
      preferredSecurityScheme: 'bearer',
      securitySchemes: { bearer: { token: keptKey() } },
    },
    // The explorer's colours. Scalar's own greys and blues have too little contrast for many readers.
    customCss: `
    .light-mode, .dark-mode {
      --scalar-background-1: var(--surface);
      --scalar-background-2: var(--raised);
      --scalar-background-3: var(--line);
      --scalar-border-color: var(--line);
      --scalar-color-1: var(--text);
      --scalar-color-2: var(--muted);
      --scalar-color-3: var(--muted);
      --scalar-color-accent: var(--accent);
      --scalar-font: var(--font);
      --scalar-font-code: var(--mono);
    }
    .light-mode {
      --scalar-color-blue: #0061a8;
      --scalar-color-orange: #a84300;
      --scalar-color-green: #04693d;
    }
  `,
    metaData: { title: 'groundswell API' },
  })
}

// Scalar gives its copy buttons no name, and the keyboard cannot scroll its long lines of code and wide
// tables. As it adds to the page all the time, so does this.
const SCROLLED = ':is(code.custom-scroll, .markdown table):not([tabindex])'
let isPending = false
new MutationObserver(() => {
  if (isPending) return
  isPending = true
  requestAnimationFrame(() => {
    isPending = false
    for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
      button.setAttribute('aria-label', 'Copy')
    }
    for (const scrolled of document.querySelectorAll(SCROLLED)) scrolled.tabIndex = 0
  })
}).observe(place, { childList: true, subtree: true })

void start()
