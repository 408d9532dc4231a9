/** Runs tasks, at most so many at a time, first come first served. */
export type Pool = {
  /** Runs a task when there is room for it and gives its result. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T>
  /** Resolves as soon as the task has begun: whoever hands out work goes no faster than it is taken. Errors: see `idle`. */
  readonly start: (task: () => Promise<unknown>) => Promise<void>
  /** Resolves when nothing runs any more; rejects with the first error of a started task. */
  readonly idle: () => Promise<void>
}

export function createPool(size: number): Pool {
  const waiting: (() => void)[] = []
  const running = new Set<Promise<unknown>>()
  const errors: unknown[] = []
  let free = size

  const enter = async (): Promise<void> => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  // A place is handed over, never freed and taken again: nobody who comes later is served first.
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
  const run = async <T>(task: () => Promise<T>): Promise<T> => {
    await enter()
    try {
      return await task()
    } finally {
      leave()
    }
  }
  return {
    run,
    start: async (task) => {
      await enter()
      const ended = task()
        .catch((error: unknown) => errors.push(error))
        .finally(() => {
          running.delete(ended)
          leave()
        })
      running.add(ended)
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running)
      if (errors.length > 0) throw errors[0]
    },
  }
}

/**
 * Runs the items side by side, at most so many at a time, each begun in its turn. Resolves when all have ended; rejects then
 * with the first error.
 */
export async function eachAtOnce<Item>(
  items: Iterable<Item>,
  most: number,
  run: (item: Item) => Promise<unknown>,
): Promise<void> {
  const pool = createPool(most)
  for (const item of items) await pool.start(() => run(item))
  await pool.idle()
}
