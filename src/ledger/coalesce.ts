export type CoalesceOptions<Job, Answer> = {
  /** Most jobs of one request. */
  readonly maxJobs: number
  /** Jobs of one key never share a request, nor run at once. */
  readonly keyOf: (job: Job) => string
  /** Sends one request and answers each job, in order. If it rejects, every job of the request does. */
  readonly send: (jobs: readonly Job[]) => Promise<readonly Answer[]>
}

type Waiting<Job, Answer> = {
  readonly job: Job
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Gathers single calls into few requests without a timer and so without waiting: first whatever one turn of the event
 * loop brings, then whatever arrives while requests are in flight.
 */
export function coalesce<Job, Answer>(options: CoalesceOptions<Job, Answer>): (job: Job) => Promise<Answer> {
  let waiting: Waiting<Job, Answer>[] = []
  let busy = false

  const flush = async (): Promise<void> => {
    busy = true
    do {
      await endOfTurn()
      const { now, later } = distinct(waiting, options.keyOf)
      waiting = later
      await Promise.all(chunks(now, options.maxJobs).map(request))
    } while (waiting.length > 0)
    busy = false
  }

  const request = async (calls: readonly Waiting<Job, Answer>[]): Promise<void> => {
    try {
      const answers = await options.send(calls.map(({ job }) => job))
      calls.forEach((call, n) => {
        const answer = answers[n]
        if (answer === undefined) call.reject(new Error('A job was left without an answer.'))
        else call.resolve(answer)
      })
    } catch (error) {
      for (const call of calls) call.reject(error)
    }
  }

  return (job) =>
    new Promise((resolve, reject) => {
      waiting.push({ job, resolve, reject })
      if (!busy) void flush()
    })
}

/** Everything that this turn of the event loop still brings comes first. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function distinct<Job, Answer>(waiting: readonly Waiting<Job, Answer>[], keyOf: (job: Job) => string) {
  const keys = new Set<string>()
  const now: Waiting<Job, Answer>[] = []
  const later: Waiting<Job, Answer>[] = []
  for (const call of waiting) {
    const key = keyOf(call.job)
    ;(keys.has(key) ? later : now).push(call)
    keys.add(key)
  }
  return { now, later }
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))
}
