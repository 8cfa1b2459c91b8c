/** The calls behind a panel, as curl lines to copy. */
import { curlLine } from './addresses.ts'
import { WhereKeysComeFrom } from './dialogs.tsx'
import { Copy, Note } from './pieces.tsx'
import { api } from './store.ts'

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
