/** `groundswell mcp` over a whole day of questions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startLive } from '../live.ts'
import { Assistant, assistantWorld, rowsOf } from './mcp_assistant.ts'

const CALLS = 2000
/** Of resident memory, from the 500th call to the last. */
const MOST_GROWTH_KIB = 64 * 1024

test(
  `${CALLS} calls in a row are answered, by a program that stays small.`,
  { timeout: 1_800_000 },
  async (t) => {
    const live = await startLive(t, { snapshots: await assistantWorld(t, rowsOf(2)) })
    const assistant = await new Assistant(t, live.base, live.key).start()
    const [{ id }] = (await assistant.call('find_buoys', { text: 'ferret' })).data.buoys as { id: number }[]
    const calls: [name: string, args: { [name: string]: unknown }][] = [
      ['find_buoys', { lat: 44.6, lng: -1.4 }],
      ['latest_readings', { ids: [id] }],
      ['history', { id, start_date: '2020-01-01' }],
      ['conditions', { lat: 44.6, lng: -1.4 }],
      ['compare_seasons', { id, metric: 'significient_height' }],
    ]
    let before = 0
    for (let i = 0; i < CALLS; i++) {
      const { isError, text } = await assistant.call(...calls[i % calls.length])
      assert.ok(!isError, text)
      if (i === 500) before = assistant.residentKib()
    }
    assert.ok(assistant.residentKib() - before < MOST_GROWTH_KIB)
  },
)
