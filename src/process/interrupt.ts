/**
 * Makes a stalled thread call one last function. A thread of Node can be terminated from outside, but then
 * none of its own code runs again, and the engine that it leaves open makes libuv abort the whole process
 * (`uv_loop_close() while having open handles`). A debugger's question, though, is answered in the middle of
 * an endless loop, a regular expression or a wait. It needs no port.
 */

/** The name of the function, a global symbol of the thread. It gets a thread id and returns a JSON value. */
export const LAST_ACT = 'groundswell.lastAct'

interface Answer {
  id?: number
  result?: { result?: { value?: unknown } }
}

/**
 * Calls `LAST_ACT` of the thread `threadId`, whatever it does at the moment. Resolves to the result, or to
 * null when the thread did not answer within `patienceMs` or when this Node has no debugger.
 */
export async function callLastAct(threadId: number, patienceMs: number): Promise<unknown> {
  const inspector = await import('node:inspector').catch(() => null)
  if (inspector === null) return null
  const session = new inspector.Session()
  let giveUp: NodeJS.Timeout | undefined
  try {
    session.connect()
    return await new Promise((resolve) => {
      giveUp = setTimeout(() => resolve(null), patienceMs)
      // All threads are asked: releases of Node differ in how a session says which thread it belongs to.
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
