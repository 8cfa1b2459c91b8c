/**
 * Has a thread that stands still do one thing more. A thread of Node can be terminated from outside, but then none of its own code
 * runs again, and the engine that it leaves open makes libuv abort the whole process (`uv_loop_close() while having open handles`). A
 * debugger's question, though, is answered in the middle of an endless loop, a regular expression or a wait. No port is opened for it.
 */

/** What a thread has under this name is called: with its thread id, it returns something that JSON can say. */
export const LAST_ACT = 'groundswell.lastAct'

interface Answer {
  id?: number
  result?: { result?: { value?: unknown } }
}

/**
 * Calls `LAST_ACT` of the thread `threadId`, whatever it does at the moment.
 * Resolves to what it returned; null when it did not answer within `patience` ms, or this Node has no debugger.
 */
export async function callLastAct(threadId: number, patience: number): Promise<unknown> {
  const inspector = await import('node:inspector').catch(() => null)
  if (inspector === null) return null
  const session = new inspector.Session()
  let giveUp: NodeJS.Timeout | undefined
  try {
    session.connect()
    return await new Promise((resolve) => {
      giveUp = setTimeout(() => resolve(null), patience)
      // All threads are asked, since a session does not say which one it belongs to in a way that all releases share.
      const expression = `globalThis[Symbol.for(${JSON.stringify(LAST_ACT)})]?.(${threadId}) ?? null`
      const message = JSON.stringify({
        id: 1,
        method: 'Runtime.evaluate',
        params: { expression, returnByValue: true },
      })
      session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
        session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
      })
      session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
        const value = (JSON.parse(params.message) as Answer).result?.result?.value ?? null
        if (value !== null) resolve(value)
      })
      session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    })
  } catch {
    return null
  } finally {
    clearTimeout(giveUp)
    session.disconnect()
  }
}
