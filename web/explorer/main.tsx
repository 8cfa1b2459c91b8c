/** Starts the explorer: puts its components into the page, and follows what changes. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import { Dialogs } from './dialogs.tsx'
import { startFollowing } from './live/following.ts'
import { startMap } from './map_host.ts'
import { Panel } from './panel/panel.tsx'
import { Search } from './search.tsx'
import { Banner, LiveDot } from './status.tsx'
import { api, byId } from './store.ts'
import { Legend, MapTools, PageTools } from './tools.tsx'

function OverMap() {
  return (
    <>
      <LiveDot />
      <MapTools />
      <Legend />
    </>
  )
}

render(<Search />, byId('search'))
render(<PageTools />, byId('tools'))
render(<Banner />, byId('notice'))
render(<Panel />, byId('panel'))
render(<OverMap />, byId('over-map'))
render(<Dialogs />, byId('dialogs'))
effect(() => {
  byId('demo').hidden = api.isDemo.value !== true
})
startFollowing()
startMap()
