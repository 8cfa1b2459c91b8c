/**
 * The box of a panel that offers what it shows as files. Its code is loaded when a visitor first opens it.
 */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type * as Files from './menu.tsx'

const code = signal<typeof Files | null>(null)

export function Downloads() {
  const [hasFailed, setHasFailed] = useState(false)
  const open = (): void => {
    setHasFailed(false)
    import('./menu.tsx').then(
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
