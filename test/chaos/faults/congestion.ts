import { hashText, requestRandom } from './chance.ts'
import type { PartialAnswer } from './partial-answer.ts'
import type { Json, LayerRequest } from './request.ts'

/**
 * A FIFO queue keeps its groups in partitions, each with a throughput of its own. While one has too much to do, entries
 * of its groups are refused again and again, and all others are taken.
 */
export type Congestion = { readonly part: number }

const PARTS = 5
/** ms of the clock. */
const SPELL_MS = 5000

/** Whether some groups are congested at this moment, and which; for that share of the time. By seed and time alone. */
export function congestionAt(seed: number, now: number, share: number): Congestion | undefined {
  const random = requestRandom(seed, 'congestion', Math.floor(now / SPELL_MS))
  return random() < share ? { part: Math.floor(random() * PARTS) } : undefined
}

type Entry = { readonly Id: string; readonly MessageGroupId?: string }

/** Undefined for a request that has nothing of a congested group. */
export function congestedBatch({ operation, input }: LayerRequest, { part }: Congestion): PartialAnswer | undefined {
  if (operation !== 'SendMessageBatch') return undefined
  const entries = (input()['Entries'] ?? []) as readonly Entry[]
  const refused = entries.filter(({ MessageGroupId }) => partOf(MessageGroupId) === part)
  if (refused.length === 0) return undefined
  const taken = entries.filter((entry) => !refused.includes(entry))
  const failures = refused.map(({ Id }) => ({
    Id,
    Code: 'RequestThrottled',
    Message: 'An injected fault.',
    SenderFault: false,
  }))
  return {
    kind: 'congested groups',
    ...(taken.length === 0 ? {} : { forwarded: { ...input(), Entries: taken } }),
    merge: ({ Successful = [], Failed = [], ...rest }: Json) => ({
      ...rest,
      Successful,
      Failed: [...(Failed as readonly Entry[]), ...failures],
    }),
  }
}

function partOf(group: string | undefined): number | undefined {
  return group === undefined ? undefined : hashText(group) % PARTS
}
