// Starts the documentation browser without web fonts, telemetry, proxy and assistants, which would ask other
// servers.
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
  // Scalar's greys and blues have too little contrast for many readers.
  customCss: `
    .light-mode {
      --scalar-color-2: #4b4b4b;
      --scalar-color-3: #5f5f5f;
      --scalar-color-blue: #0061a8;
      --scalar-color-orange: #a84300;
      --scalar-color-green: #04693d;
    }
    .dark-mode {
      --scalar-color-2: #b9b9b9;
      --scalar-color-3: #a3a3a3;
    }
  `,
  metaData: { title: 'groundswell API' },
})

// Scalar gives its copy buttons no name, and the keyboard cannot scroll its long lines of code. As it adds to
// the page all the time, so does this.
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
