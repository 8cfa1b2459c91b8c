/** Links to share: the address of the view, and the code of two frames of a buoy. */
import { signal } from '@preact/signals'
import { Dialog } from '../dialogs.tsx'
import { texts } from '../language.ts'
import { Button, Copy, Note, Tool } from '../pieces.tsx'
import { page } from '../store.ts'
import { formatView } from '../view.ts'

const isOpen = signal(false)

export function Share() {
  return (
    <>
      <Tool name="share" label={texts.share.title} onClick={() => (isOpen.value = true)} />
      {isOpen.value ? <ShareDialog /> : null}
    </>
  )
}

function ShareDialog() {
  const { view, subject } = page.value
  const whole = (path: string): string => new URL(path, location.href).href
  // A slug has no characters that mean something in an attribute; a name might.
  const frame = (slug: string, more: string, [width, height]: readonly [number, number]): string =>
    `<iframe src="${whole(`embed/${slug}${more}`)}" width="${width}" height="${height}" title="${texts.share.frameTitle(slug)}"></iframe>`
  const slug = subject.kind === 'buoy' ? subject.buoy.slug : null
  const offers = [
    [texts.share.link, whole(`#${formatView({ ...view, camera: null })}`)],
    ...(slug === null
      ? []
      : [
          [texts.share.frame, frame(slug, '', [480, 800])],
          [texts.share.card, frame(slug, '#tab=card', [320, 200])],
        ]),
  ] as const
  return (
    <Dialog name="share" title={texts.share.title} onClose={() => (isOpen.value = false)}>
      <form method="dialog">
        {offers.map(([label = '', text = '']) => (
          <div key={label} role="group" aria-label={label}>
            <Copy what={texts.share.copy} label={label} text={text} done={texts.share.done(label)}>
              <b>{label}</b>
            </Copy>
          </div>
        ))}
        {slug === null || document.documentElement.dataset.embed !== '' ? null : (
          <Note>{texts.share.ownPages}</Note>
        )}
        <div class="buttons row wraps">
          <Button text={texts.units.done} type="submit" class="primary" />
        </div>
      </form>
    </Dialog>
  )
}
