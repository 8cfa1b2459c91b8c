/** A page shows answers of one snapshot, whatever the server does meanwhile. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { Answers } from '../../web/explorer/answers.ts'
import { ApiTrouble, type Api } from '../../web/explorer/api.ts'

interface Body {
  snapshot: string
  address: string
}

/** A server that answers when the test says so. */
class FakeApi {
  snapshot = 'A'
  readonly waiting: { address: string; answer: () => void; fail: () => void }[] = []

  ask(address: string): Promise<{ data: Body; snapshot: string }> {
    return new Promise((resolve, reject) => {
      this.waiting.push({
        address,
        answer: () => resolve({ data: { snapshot: this.snapshot, address }, snapshot: this.snapshot }),
        fail: () => reject(new ApiTrouble('offline', 'away')),
      })
    })
  }
}

/** Lets answers arrive and timers of the page fire. */
async function settle(t: TestContext): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    t.mock.timers.tick(500)
  }
}

test('All answers of a page are of one snapshot, and in the end of the newest one.', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const weights = { answer: 6, fail: 1, publish: 1, refresh: 2, go: 2 } as const
  const whats = Object.entries(weights).map(([what, weight]) => ({
    weight,
    arbitrary: fc.constant(what as keyof typeof weights),
  }))
  const step = fc.record({ what: fc.oneof(...whats), which: fc.nat(5) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const api = new FakeApi()
      let page = 0
      let shown: (Body | null)[] = []
      const draw = (): void => {
        answers.beginDrawing()
        shown = ['/map', `/page/${page}`, `/chart/${page}`].map((address) => {
          const answer = answers.get<Body>(address)
          return answer.state === 'here' ? answer.data : null
        })
        const snapshots = new Set(shown.flatMap((body) => (body === null ? [] : [body.snapshot])))
        assert.ok(snapshots.size <= 1, `${[...snapshots].join(' and ')} together`)
      }
      const answers = new Answers(api as unknown as Api, draw)
      draw()
      for (const { what, which } of steps) {
        if (what === 'publish') api.snapshot += 'B'
        else if (what === 'refresh') answers.refresh(() => false)
        else if (what === 'go') {
          page = which
          draw()
        } else {
          const [call] = api.waiting.splice(which % Math.max(1, api.waiting.length), 1)
          call?.[what]()
        }
        await settle(t)
        draw()
      }
      // From here on nothing fails, and minutes pass.
      for (let round = 0; round < 3; round++) {
        answers.forgetFailures()
        draw()
        answers.refresh(() => false)
        for (let turn = 0; turn < 10; turn++) {
          for (const call of api.waiting.splice(0)) call.answer()
          await settle(t)
          draw()
        }
      }
      assert.deepEqual(
        shown.map((body) => body?.snapshot),
        [api.snapshot, api.snapshot, api.snapshot],
      )
    }),
    { numRuns: 60 },
  )
})
