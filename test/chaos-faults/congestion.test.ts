import { expect, it } from 'vitest'
import { congestedBatch, congestionAt } from '../chaos/faults/congestion.ts'
import { toRequest } from '../chaos/faults/request.ts'

const moments = Array.from({ length: 400 }, (_, n) => n * 5000)

it('congests some groups for about its share of the time, the same for a seed', () => {
  const spells = moments.map((now) => congestionAt(1, now, 0.4))
  const share = spells.filter((spell) => spell !== undefined).length / spells.length
  expect(share).toBeGreaterThan(0.3)
  expect(share).toBeLessThan(0.5)
  expect(moments.map((now) => congestionAt(1, now, 0.4))).toEqual(spells)
  expect(new Set(spells.map((spell) => spell?.part)).size).toBe(6)
  expect(congestionAt(1, 0, 0)).toBeUndefined()
})

it('refuses each entry of a congested group, and only those, without sending them', () => {
  const Entries = Array.from({ length: 10 }, (_, n) => ({ Id: String(n), MessageBody: 'x', MessageGroupId: `g${n}` }))
  const body = Buffer.from(JSON.stringify({ QueueUrl: 'q', Entries }))
  const request = toRequest({ id: 1, n: 1, process: 'relay#1', target: 'AmazonSQS.SendMessageBatch' }, body)
  if (request === undefined) throw new Error('no request')
  const refused = [0, 1, 2, 3, 4].map((part) => {
    const answer = congestedBatch(request, { part })
    const sent = (answer?.forwarded?.['Entries'] ?? Entries) as typeof Entries
    const merged = answer?.merge({ Successful: sent.map(({ Id }) => ({ Id })) }) ?? { Failed: [] }
    const failed = (merged['Failed'] as { Id: string; SenderFault: boolean }[]).map(({ Id }) => Id)
    expect([...sent.map(({ Id }) => Id), ...failed].sort()).toEqual(Entries.map(({ Id }) => Id))
    return failed
  })
  expect(refused.flat().sort()).toEqual(Entries.map(({ Id }) => Id))
})

it('leaves other operations and standard queues alone', () => {
  const body = Buffer.from(JSON.stringify({ Entries: [{ Id: '0', MessageBody: 'x' }] }))
  for (const target of ['AmazonSQS.SendMessageBatch', 'AmazonSQS.DeleteMessageBatch']) {
    const request = toRequest({ id: 1, n: 1, process: 'relay#1', target }, body)
    expect([0, 1, 2, 3, 4].map((part) => request && congestedBatch(request, { part }))).toEqual(
      Array(5).fill(undefined),
    )
  }
})
