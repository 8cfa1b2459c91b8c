/** Long answers that are made in this thread, from views as they are. */
import type { View } from '../src/dataset/view.ts'
import { LongAnswers } from '../src/http/long-answers.ts'
import type { FromLong, LongRequest, ToLong } from '../src/operation/long-messages.ts'
import { RequestPath } from '../src/http/request.ts'
import { longAnswer } from '../src/long/long-answer.ts'
import { LongQueue, type Job } from '../src/long/queue.ts'
import { faultText } from '../src/system/text.ts'

type RequestPathOptions = ConstructorParameters<typeof RequestPath>[0]
type Keys = ConstructorParameters<typeof RequestPath>[1]

interface HereOptions {
  viewOf: (request: LongRequest) => View
  /** By default all is made at once. */
  soon?: (work: () => void) => void
  clock?: () => number
}

/** As `connect` in `long/thread.ts`, without a thread. */
function longHere({ viewOf, clock, ...options }: HereOptions): LongAnswers {
  /** Work that is done before a call comes back. */
  const due: (() => void)[] = []
  let isWorking = false
  const queue = new LongQueue({
    faultText,
    soon: options.soon ?? ((work) => void due.push(work)),
    ...(clock && { clock }),
  })
  const jobs = new Map<number, Job>()
  const answers = new LongAnswers(options.soon ?? ((work) => work()))
  let take: (message: FromLong) => void = () => {}
  const post = (message: FromLong): void => take(message)
  const tell = (message: ToLong): void => {
    const { number } = message
    if (message.type === 'make') {
      const { request } = message
      const make = (): ReturnType<typeof longAnswer> => longAnswer(viewOf(request), request)
      const job = queue.add({ number, request, make, post })
      if (job !== null) jobs.set(number, job)
      return
    }
    const job = jobs.get(number)
    if (job === undefined) return
    if (message.type === 'taken') queue.taken(job, message.bytes)
    else queue.leave(job)
  }
  answers.connect({
    postMessage(message) {
      tell(message)
      if (isWorking) return
      isWorking = true
      for (let work = due.shift(); work !== undefined; work = due.shift()) work()
      isWorking = false
    },
    on(event, listener) {
      if (event === 'message') take = listener
    },
  })
  return answers
}

/** A request path that has long answers made in its own thread, of the views that it was ever given. */
export class PathHere extends RequestPath {
  readonly #views: Map<string, View>

  constructor(options: Omit<RequestPathOptions, 'long'>, keys: Keys, soon?: (work: () => void) => void) {
    const views = new Map<string, View>()
    const long = longHere({
      viewOf: ({ snapshot }) => views.get(snapshot)!,
      ...(soon && { soon }),
    })
    super({ ...options, long }, keys)
    this.#views = views
  }

  override hold(views: readonly View[], most: number): void {
    for (const view of views) this.#views.set(view.dataset.snapshotId, view)
    super.hold(views, most)
  }
}
