/** The badge that says that the data are made up. */
import type { Api } from './api.ts'
import { byId } from './dom.ts'

/** Shows the badge as the newest answer says. */
export function followDemo(api: Api): void {
  let isKnown = false
  api.onMark = (isDemo) => {
    isKnown = true
    byId('demo').hidden = !isDemo
  }
  // A visitor without a key may get no answer; the head of the description needs none.
  if (api.key !== '') return
  const how: RequestInit & { cache: 'no-store' } = { method: 'HEAD', cache: 'no-store' }
  void fetch(api.address('/openapi.json'), how).then(
    ({ headers }) => {
      if (!isKnown) byId('demo').hidden = !headers.has('X-Demo')
    },
    () => {},
  )
}
