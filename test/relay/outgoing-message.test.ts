import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/event/identity.ts'
import { outgoingMessage } from '../../src/relay/outgoing-message.ts'
import { type PendingRow, readRow } from '../../src/relay/row-image.ts'
import { proves } from '../cases.ts'
import { orderedRow, REGION, unorderedRow } from '../support/outbox-rows.ts'

function messageOf(image: Parameters<typeof readRow>[0]) {
  const reading = readRow(image, new Set([REGION]))
  if (reading.kind !== 'pending') throw new Error(reading.kind)
  return outgoingMessage(reading.row satisfies PendingRow)
}

describe('outgoingMessage', () => {
  it(
    'has the event id as deduplication id, and a suffix after each redrive',
    proves('ids-on-every-path', 'redrive-within-dedup'),
    () => {
      const { deduplicationId } = messageOf(unorderedRow('k'))
      expect(deduplicationId).toMatch(/^[0-9a-f]{64}$/)
      expect(messageOf(unorderedRow('k', { redrives: 1 })).deduplicationId).toBe(`${deduplicationId}-r1`)
      expect(messageOf(unorderedRow('k', { redrives: 12 })).deduplicationId).toBe(`${deduplicationId}-r12`)
    },
  )

  it('gives each unordered event a group of its own, also after a redrive', () => {
    const { groupId, deduplicationId } = messageOf(unorderedRow('k'))
    expect(groupId).toBe(deduplicationId)
    expect(messageOf(unorderedRow('k', { redrives: 1 })).groupId).toBe(groupId)
  })

  it('groups ordered events by source and group, up to 128 characters; beyond, by a hash', () => {
    const fits = 'g'.repeat(123)
    expect(messageOf(orderedRow(fits, 1)).groupId).toBe(`shop/${fits}`)
    expect(messageOf(orderedRow(`${fits}g`, 1)).groupId).toBe(`h-${sha256(`shop/${fits}g`)}`)
  })

  it('keeps a foreign group that a queue would refuse in order, under a hash', () => {
    expect(messageOf(orderedRow('größe 1', 1, { extra: { v: undefined } })).groupId).toBe(`h-${sha256('shop/größe 1')}`)
  })
})
