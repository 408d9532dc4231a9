import { describe, expect, it } from 'vitest'
import { type DeadItem, failureKind, groupDeadLetters } from '../../src/ops/group-dead-letters.ts'

describe('failureKind', () => {
  it.each([
    ['Error: order 17 of customer-9 has no stock', 'Error: order 18 of customer-12 has no stock'],
    ['Error: timeout after 3000ms at 10.0.0.7:5432', 'Error: timeout after 2999ms at 10.0.0.8:5432'],
    ['no such user "ann"', 'no such user "bob"'],
    ['bounced: ann@example.org', 'bounced: bob@example.org'],
    ['mailbox 450 is full', 'mailbox 7 is full'],
    ['Error: no stock for order 599', 'Error: no stock for order 600'],
    ['item 550e8400-e29b-41d4-a716-446655440000 gone', 'item 00000000-e29b-41d4-a716-446655440000 gone'],
  ])('is the same for reasons that differ in ids, numbers, quoted names and addresses alone: %s', (one, other) => {
    expect(failureKind(one)).toBe(failureKind(other))
    expect(failureKind(one)).not.toBe('')
  })

  it('keeps causes apart, an HTTP status included', () => {
    const reasons = [
      'upstream answered 404',
      'upstream answered 503.',
      'upstream answered 503',
      'Error: 503 Service Unavailable',
      'Error: 502 Service Unavailable',
      'Request failed with status code 404',
      'Request failed with status code 409',
      'no answer (504)',
      'no answer (502)',
      'no stock for 7',
      'no stock',
    ]
    expect(new Set(reasons.map(failureKind)).size).toBe(reasons.length)
  })
})

describe('groupDeadLetters', () => {
  const item = (id: string, since: number, members: Partial<DeadItem> = {}): DeadItem => ({
    where: 'message',
    id,
    handler: 'shop/mail',
    reason: 'mailbox 7 is full',
    since,
    ...members,
  })

  it('counts by handler and kind, with the first and last time and the first one as example; the largest first', () => {
    const items = [
      item('a', 300, { handler: 'shop/stock' }),
      item('b', 200),
      item('c', 100, { reason: 'mailbox 8 is full' }),
      item('d', 400, { reason: 'no such address' }),
    ]
    expect(groupDeadLetters(items)).toEqual([
      { handler: 'shop/mail', failure: 'mailbox # is full', count: 2, firstSince: 100, lastSince: 200, example: 'c' },
      { handler: 'shop/stock', failure: 'mailbox # is full', count: 1, firstSince: 300, lastSince: 300, example: 'a' },
      { handler: 'shop/mail', failure: 'no such address', count: 1, firstSince: 400, lastSince: 400, example: 'd' },
    ])
    expect(groupDeadLetters([])).toEqual([])
  })
})
