/** Makes an answer once more, for a client that was slow to read it. */
import { ApiError } from '../answers/errors.ts'
import { isExpensive, type Operation, type View } from '../answers/operation.ts'
import { shapeOf } from '../answers/shape.ts'
import type { Router } from '../routes.ts'
import { DEFAULT_LANGUAGE } from '../sea/languages.ts'
import { finish } from '../system/steps.ts'
import { beginAnswer, endAnswer } from './envelope.ts'
import type { RequestState } from './request-state.ts'
import type { StreamTarget, Target } from './request-target.ts'

export class Rewriter {
  readonly #state: RequestState
  readonly #router: Router<Target | StreamTarget>

  constructor(state: RequestState, router: Router<Target | StreamTarget>) {
    this.#state = state
    this.#router = router
  }

  /**
   * The answer in the usual JSON to a request that was admitted and answered at `second`; null where it
   * cannot be made any more. None of a language is so long that it is made again.
   */
  rewritten(view: View, pin: string, path: string, query: string, second: number): Uint8Array | null {
    const route = this.#router.find(path)
    if (route === null || route.target.operation === null) return null
    const { operation, reader, index } = route.target
    const { raw, digest } = this.#state
    raw.split(query)
    // Long ones with fewer fields are made in slices, so that it is hardly ever one of these.
    if (shapeOf(operation.tables, 'include' in operation.parameters, raw, () => 'json') !== null) return null
    const values = reader.read(raw, digest.begin(index))
    const { writer } = view.fragments
    let begun: ReturnType<Operation['answer']>
    try {
      begun = beginAnswer(view, operation, values, route.path, second, DEFAULT_LANGUAGE)
    } catch (error) {
      // Changes since a snapshot that has left meanwhile.
      if (error instanceof ApiError) return null
      throw error
    }
    endAnswer(writer, isExpensive(begun) ? finish(begun.steps(writer)) : begun, second, pin)
    return writer.answer()
  }
}
