// Takes the colours that the visitor chose in the explorer, before anything is drawn, and says where the
// server's data are made up. The head of the description has the mark, and costs no call.
const isDark = matchMedia('(prefers-color-scheme: dark)').matches
let chosen = ''
try {
  chosen = localStorage.getItem('groundswell-theme') ?? ''
} catch {
  // A browser may forbid it.
}
document.documentElement.dataset.theme = chosen || (isDark ? 'dark' : 'light')

const badge = document.getElementById('demo')

fetch(badge.dataset.description, { method: 'HEAD', cache: 'no-store' }).then(
  ({ headers }) => {
    badge.hidden = !headers.has('X-Demo')
  },
  () => {},
)
