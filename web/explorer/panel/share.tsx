/** What a visitor gives to others: the address of the view, and of a buoy the code of two frames. */
import { signal } from '@preact/signals'
import { Dialog } from '../dialogs.tsx'
import { Button, Copy, Note, Tool } from '../pieces.tsx'
import { page } from '../store.ts'
import { formatView } from '../view.ts'

const isOpen = signal(false)

export function Share() {
  return (
    <>
      <Tool name="share" label="Share" onClick={() => (isOpen.value = true)} />
      {isOpen.value ? <ShareDialog /> : null}
    </>
  )
}

function ShareDialog() {
  const { view, subject } = page.value
  const whole = (path: string): string => new URL(path, location.href).href
  // A slug has no characters that mean something in an attribute; a name might.
  const frame = (slug: string, more: string, [width, height]: readonly [number, number]): string =>
    `<iframe src="${whole(`embed/${slug}${more}`)}" width="${width}" height="${height}" title="Wave buoy ${slug}"></iframe>`
  const slug = subject.kind === 'buoy' ? subject.buoy.slug : null
  const offers = [
    ['Link', whole(`#${formatView({ ...view, camera: null })}`)],
    ...(slug === null
      ? []
      : [
          ['Page in a frame', frame(slug, '', [480, 800])],
          ['Card in a frame', frame(slug, '#tab=card', [320, 200])],
        ]),
  ] as const
  return (
    <Dialog name="share" title="Share" onClose={() => (isOpen.value = false)}>
      <form method="dialog">
        {offers.map(([label = '', text = '']) => (
          <div key={label} role="group" aria-label={label}>
            <Copy what="Copy" label={label} text={text} done={`${label} was copied.`}>
              <b>{label}</b>
            </Copy>
          </div>
        ))}
        {slug === null || document.documentElement.dataset.embed !== '' ? null : (
          <Note>Frames show only within pages of this server, until its operator allows others.</Note>
        )}
        <div class="buttons row wraps">
          <Button text="Done" type="submit" class="primary" />
        </div>
      </form>
    </Dialog>
  )
}
