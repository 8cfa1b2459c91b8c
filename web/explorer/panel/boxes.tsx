/** The boxes at the end of a panel: what it shows as files, and the calls behind it as curl lines to copy. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { curlLine } from '../addresses.ts'
import { WhereKeysComeFrom } from '../dialogs.tsx'
import type * as Files from '../downloads/menu.tsx'
import { Copy, Note } from '../pieces.tsx'
import { api } from '../store.ts'

/** The code of the downloads, which is loaded when a visitor first opens their box. */
const code = signal<typeof Files | null>(null)

export function Downloads() {
  const [hasFailed, setHasFailed] = useState(false)
  const open = (): void => {
    setHasFailed(false)
    import('../downloads/menu.tsx').then(
      (loaded) => (code.value = loaded),
      () => setHasFailed(true),
    )
  }
  const Menu = code.value?.Menu
  return (
    <details class="calls" id="downloads" onToggle={({ currentTarget }) => currentTarget.open && open()}>
      <summary>Download</summary>
      {Menu === undefined ? (
        <div>
          {hasFailed ? 'The downloads could not be loaded. Close this and open it again.' : 'Loading …'}
        </div>
      ) : (
        <Menu />
      )}
    </details>
  )
}

const HIDDEN_KEY = 'YOUR_KEY'

/** `calls` are addresses from the server's root. The key is copied but not shown, as screens are shared. */
export function Curl({ calls }: { calls: readonly { label: string; address: string }[] }) {
  const key = api.key.value
  return (
    <details class="calls" id="calls">
      <summary>Get this from the API</summary>
      {calls.map(({ label, address }) => {
        const whole = new URL(address, document.baseURI).href
        return (
          <div class="call" key={address}>
            <Copy
              what="Copy curl"
              label={label}
              doneLabel={`Copy curl: ${label}`}
              text={curlLine(whole, key || HIDDEN_KEY)}
              shown={curlLine(whole, HIDDEN_KEY)}
              done="The curl line was copied."
              row="call-head row"
            >
              <span>{label}</span>
            </Copy>
          </div>
        )
      })}
      <Note>
        {key === ''
          ? 'This page works without a key; programs need one in place of YOUR_KEY.'
          : 'The copied line contains your key.'}
      </Note>
      {key === '' ? <WhereKeysComeFrom /> : null}
    </details>
  )
}
