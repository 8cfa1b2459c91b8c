/** The boxes of panels: what one shows as files, the calls behind it as curl lines to copy, and the way to a key. */
import { curlLine } from '../addresses.ts'
import { WhereKeysComeFrom } from '../dialogs.tsx'
import { Menu } from '../downloads/menu.tsx'
import { Button, Copy, Note } from '../pieces.tsx'
import { api, keyPrompt } from '../store.ts'

const HIDDEN_KEY = 'YOUR_KEY'

interface Call {
  label: string
  /** From the server's root. */
  address: string
}

/** A visitor without access gets no `calls`. */
export function FilesAndCalls({ calls = [] }: { calls?: readonly Call[] }) {
  return (
    <details class="calls" id="downloads">
      <summary>{calls.length === 0 ? 'Download' : 'Download, or get it from the API'}</summary>
      <Menu />
      {calls.length === 0 ? null : <Calls calls={calls} />}
    </details>
  )
}

/** The key is copied but not shown, as screens are shared. */
function Calls({ calls }: { calls: readonly Call[] }) {
  const key = api.key.value
  return (
    <>
      <h3>From the API</h3>
      {calls.map(({ label, address }) => {
        const whole = new URL(address, document.baseURI).href
        return (
          <div class="call" key={address}>
            <Copy
              what="Copy curl"
              label={label}
              text={curlLine(whole, key || HIDDEN_KEY)}
              shown={curlLine(whole, HIDDEN_KEY)}
              done="The curl line was copied."
              row="call-head row apart"
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
    </>
  )
}

/** What a guest would see with a key. */
export function Invitation({ text }: { text: string }) {
  return (
    <div class="invitation box">
      <p>{text}</p>
      <Button text="Enter a key" class="primary" id="invite-key" onClick={() => (keyPrompt.value = '')} />
      <WhereKeysComeFrom />
    </div>
  )
}
