// Starts the documentation browser. No web fonts, no telemetry, no proxy, no assistants: nothing leaves for another server.
const place = document.getElementById('reference')

Scalar.createApiReference(place, {
  url: place.dataset.description,
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'bearer' },
  // Scalar's grey texts and blues are too faint to read for many.
  customCss: `
    .light-mode { --scalar-color-2: #4b4b4b; --scalar-color-3: #5f5f5f; --scalar-color-blue: #0061a8; --scalar-color-orange: #a84300; --scalar-color-green: #04693d; }
    .dark-mode { --scalar-color-2: #b9b9b9; --scalar-color-3: #a3a3a3; }
  `,
  metaData: { title: 'groundswell API' },
})

// Scalar leaves its copy buttons without a name, and long lines of code out of reach of the keyboard. It adds to the page all the time.
let isPending = false
new MutationObserver(() => {
  if (isPending) return
  isPending = true
  requestAnimationFrame(() => {
    isPending = false
    for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
      button.setAttribute('aria-label', 'Copy')
    }
    for (const code of document.querySelectorAll('code.custom-scroll:not([tabindex])')) code.tabIndex = 0
  })
}).observe(place, { childList: true, subtree: true })
