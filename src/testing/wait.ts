import { setTimeout as delay } from 'node:timers/promises'
import type { Source } from './source.ts'

export type WaitOptions = {
  /** Real milliseconds. Default 10,000. */
  readonly timeoutMs?: number
}

const POLL_MS = 5

export type Watched = {
  readonly sources: () => readonly Source[]
  /** Grows whenever a source reads or a function ends. */
  readonly activity: () => number
}

/**
 * Resolves with the first answer of `probe` that is neither false nor undefined. Throws after the timeout, with what
 * `describe` says is still missing.
 */
export async function waitFor<Value>(
  probe: () => Promise<Value | false | undefined> | Value | false | undefined,
  { timeoutMs = 10_000, describe = () => 'the condition' }: WaitOptions & { readonly describe?: () => string } = {},
): Promise<Value> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value !== false && value !== undefined) return value
    if (performance.now() > end) throw new Error(`Still waiting after ${timeoutMs} ms for ${describe()}.`)
    await delay(POLL_MS)
  }
}

/**
 * Resolves once all sources have caught up, their queues are empty and nothing is in flight, all of it within one look
 * during which nothing happened: a follow-up event written by a handler is waited for too.
 */
export async function waitUntilIdle({ sources, activity }: Watched, options: WaitOptions = {}): Promise<void> {
  const pending = (): string[] => sources().flatMap((source) => source.pending())
  const isIdle = async (): Promise<boolean> => {
    const before = activity()
    if (pending().length > 0) return false
    await Promise.all(sources().map((source) => source.catchUp()))
    return pending().length === 0 && activity() === before
  }
  await waitFor(isIdle, { ...options, describe: () => pending().join(', ') || 'the stream to be read' })
}
