import { setTimeout as delay } from 'node:timers/promises'
import { OutboxError } from '../errors.ts'
import type { Source } from './source.ts'

export type WaitOptions = {
  /** Real milliseconds. Default 10,000. */
  readonly timeoutMs?: number
}

const POLL_MS = 5
/** Between looks into a table. */
const LOOK_MS = 25

export type Watched = {
  readonly sources: () => readonly Source[]
  /** Grows whenever a source reads or a function ends. */
  readonly activity: () => number
}

/**
 * Resolves with the first answer of `probe` that is neither false nor undefined. Throws `TIMED_OUT` after the timeout, with
 * what `describe` says is still missing.
 */
export async function waitFor<Value>(
  probe: () => Promise<Value | false | undefined> | Value | false | undefined,
  { timeoutMs = 10_000, describe = () => 'the condition' }: WaitOptions & { readonly describe?: () => string } = {},
): Promise<Value> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value !== false && value !== undefined) return value
    if (performance.now() > end)
      throw new OutboxError('TIMED_OUT', `Still waiting after ${timeoutMs} ms for ${describe()}.`)
    await delay(POLL_MS)
  }
}

/**
 * Resolves once all sources have caught up, their queues are empty and nothing is in flight or left in a table, all of it
 * within one look during which nothing happened: a follow-up event written by a handler is waited for too.
 */
export async function waitUntilIdle({ sources, activity }: Watched, options: WaitOptions = {}): Promise<void> {
  const pending = (): string[] => sources().flatMap((source) => source.pending())
  let remaining: string[] = []
  const isIdle = async (): Promise<boolean> => {
    const before = activity()
    if (pending().length > 0) return false
    await Promise.all(sources().map((source) => source.catchUp()))
    if (pending().length > 0 || activity() !== before) return false
    remaining = (await Promise.all(sources().map(async (source) => (await source.remaining?.()) ?? []))).flat()
    if (remaining.length > 0) await delay(LOOK_MS)
    return remaining.length === 0 && pending().length === 0 && activity() === before
  }
  const describe = (): string => [...pending(), ...remaining].join(', ') || 'the stream to be read'
  await waitFor(isIdle, { ...options, describe })
}
