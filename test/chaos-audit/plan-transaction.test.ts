import { expect, it } from 'vitest'
import { draftEvents } from '../../src/outbox/draft-events.ts'
import { typeRule } from '../chaos/topology.ts'
import { type PlannedTransaction, planTransaction } from '../chaos/workload/plan-transaction.ts'
import { seededRandom } from '../demo/chance.ts'

function plans(seed: number, count: number): PlannedTransaction[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, n) => planTransaction({ random, tx: `w#1.${n}`, count: n }))
}

it('plans the same transactions for a seed, and others for another', () => {
  expect(plans(1, 50)).toEqual(plans(1, 50))
  expect(plans(1, 50)).not.toEqual(plans(2, 50))
})

it('plans every kind of transaction, type, trouble and follow-up within a thousand', () => {
  const all = plans(3, 1000)
  expect(new Set(all.map(({ kind }) => kind)).size).toBe(5)
  const events = all.flatMap((plan) => [...plan.events])
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(['step', 'pair', 'ping', 'both', 'aside', 'note', 'bell']),
  )
  expect(new Set(events.flatMap(({ data }) => data.trouble?.kind ?? []))).toEqual(
    new Set(['fails', 'poison', 'permanent', 'slow', 'hangs', 'crashes', 'swallows', 'throws-after']),
  )
  expect(events.some(({ data }) => data.pad !== undefined)).toBe(true)
  expect(events.some(({ data }) => data.follow) && events.some(({ data }) => data.trail !== undefined)).toBe(true)
})

it('gives trouble only to handlers that take the type', () => {
  for (const { type, data } of plans(4, 500).flatMap((plan) => [...plan.events]))
    if (data.trouble !== undefined) expect(typeRule(type)?.handlers).toContain(data.trouble.handler)
})

it('plans events that the outbox takes', async () => {
  for (const plan of plans(5, 200)) {
    const events =
      plan.kind === 'numbered' ? plan.events.map((event, n) => ({ ...event, sequence: n + 1 })) : plan.events
    expect((await draftEvents(events, undefined))?.drafts).toHaveLength(events.length)
  }
})
