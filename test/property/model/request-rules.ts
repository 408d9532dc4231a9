import type { WireEntry } from '../../../src/testing/sqs-rules.ts'
import type { Accepted } from './engine/sqs.ts'
import type { Process } from './process.ts'
import type { Wire } from './wire.ts'

export type RequestRules = {
  readonly wire: Pick<Wire, 'met'>
  readonly breach: (text: string) => void
}

/** A request that a queue refused as a whole for one of its entries: the others go again, in the same run. */
export function watchRequests({ wire, breach }: RequestRules) {
  const open = new Map<Process, Set<string>>()
  const keyOf = (queue: string, { MessageDeduplicationId }: WireEntry): string => `${queue} ${MessageDeduplicationId}`
  return {
    /** Told of the entries that were refused for another's sake. */
    condemned: (by: Process | undefined, queue: string, entries: readonly WireEntry[]): void => {
      if (by === undefined) return
      const left = open.get(by) ?? new Set()
      for (const entry of entries) left.add(keyOf(queue, entry))
      open.set(by, left)
    },
    accepted: ({ by, queue, entry }: Accepted): void => {
      if (by !== undefined) open.get(by)?.delete(keyOf(queue, entry))
    },
    /** Told of a process that has ended by itself. */
    ended: (by: Process): void => {
      const left = open.get(by)?.size ?? 0
      if (left > 0 && wire.met(by).length === 0) breach(`${by.name} left ${left} entries of a request that one spoilt`)
    },
  }
}
