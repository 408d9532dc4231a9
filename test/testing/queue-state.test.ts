import { beforeEach, describe, expect, it } from 'vitest'
import { createQueueState, type QueueState, type StoredMessage } from '../../src/testing/queue-state.ts'

const HIDDEN = 30_000
let numbers = 0

function message(groupId: string, body: string, more: Partial<StoredMessage> = {}): StoredMessage {
  numbers += 1
  const sequenceNumber = String(numbers).padStart(20, '0')
  const ids = { messageId: `m${numbers}`, deduplicationId: body, md5OfBody: '', sequenceNumber }
  return { ...ids, body, groupId, attributes: {}, sentAt: 0, visibleAt: 0, receiveCount: 0, ...more }
}

function receive(state: QueueState, now: number, max = 10, visibilityMs = HIDDEN): StoredMessage[] {
  return state.receive({ max, now, visibilityMs })
}

const bodies = (messages: readonly StoredMessage[]): string[] => messages.map(({ body }) => body)
const handleOf = (messages: readonly StoredMessage[], at: number): string => messages[at]?.handle ?? 'none'

describe('a FIFO queue', () => {
  let state: QueueState

  beforeEach(() => {
    numbers = 0
    state = createQueueState({ fifo: true })
    for (const [group, body] of ['a1', 'b1', 'a2', 'a3', 'b2'].map((text) => [text.slice(0, 1), text] as const)) {
      state.add(message(group, body))
    }
  })

  it('hands out several messages of a group in order, and mixes groups', () => {
    expect(bodies(receive(state, 0))).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  })

  it('blocks a group while one of its messages is hidden, and no other group', () => {
    const first = receive(state, 0, 2)
    expect(bodies(first)).toEqual(['a1', 'a2'])
    expect(bodies(receive(state, 1))).toEqual(['b1', 'b2'])
    expect(state.delete(handleOf(first, 0), 2)).toBe('ok')
    expect(bodies(receive(state, 3))).toEqual([])
    expect(state.delete(handleOf(first, 1), 4)).toBe('ok')
    expect(bodies(receive(state, 5))).toEqual(['a3'])
  })

  it('hands the same messages out again, in order, once their visibility has ended', () => {
    receive(state, 0, 2)
    expect(bodies(receive(state, HIDDEN - 1, 3))).toEqual(['b1', 'b2'])
    const again = receive(state, HIDDEN, 3)
    expect(bodies(again)).toEqual(['a1', 'a2', 'a3'])
    expect(again.map(({ receiveCount, firstReceivedAt }) => [receiveCount, firstReceivedAt])).toEqual([
      [2, 0],
      [2, 0],
      [1, HIDDEN],
    ])
  })

  it('keeps a group blocked until all of its received messages show again', () => {
    const [a1, a2] = receive(state, 0, 2)
    expect(state.changeVisibility(a1?.handle ?? '', 0, 10)).toBe('ok')
    expect(bodies(receive(state, 10, 3))).toEqual(['b1', 'b2'])
    expect(state.changeVisibility(a2?.handle ?? '', 0, 11)).toBe('ok')
    expect(bodies(receive(state, 11, 3))).toEqual(['a1', 'a2', 'a3'])
  })

  it('keeps a message hidden for as long as the last change said, counted from that change', () => {
    const [a1] = receive(state, 0, 1)
    expect(state.changeVisibility(a1?.handle ?? '', 100_000, 20_000)).toBe('ok')
    expect(state.nextVisibleAt(20_000)).toBe(120_000)
    expect(bodies(receive(state, 119_999, 1))).toEqual(['b1'])
    expect(bodies(receive(state, 120_000, 1))).toEqual(['a1'])
  })

  it('refuses an expired, a replaced and an unknown handle', () => {
    const [a1] = receive(state, 0, 1)
    const old = a1?.handle ?? ''
    expect(state.changeVisibility(old, 1000, HIDDEN)).toBe('expired')
    expect(state.delete(old, HIDDEN)).toBe('expired')
    receive(state, HIDDEN, 1)
    expect(state.delete(old, HIDDEN + 1)).toBe('expired')
    expect(state.changeVisibility('made up', 0, HIDDEN)).toBe('unknown')
  })

  it('refuses to hide a message for more than twelve hours in all', () => {
    const [a1] = receive(state, 0, 1)
    expect(state.changeVisibility(a1?.handle ?? '', 12 * 3_600_000, 1)).toBe('too-long')
    expect(state.changeVisibility(a1?.handle ?? '', 12 * 3_600_000 - 1, 1)).toBe('ok')
  })

  it('hands a message that was received too often to the dead-letter queue, and goes on with its group', () => {
    const dead: string[] = []
    const request = {
      max: 2,
      visibilityMs: 0,
      maxReceiveCount: 2,
      deadLetter: ({ body }: StoredMessage) => dead.push(body),
    }
    expect(bodies(state.receive({ ...request, max: 1, now: 0 }))).toEqual(['a1'])
    expect(bodies(state.receive({ ...request, max: 1, now: 1 }))).toEqual(['a1'])
    expect(bodies(state.receive({ ...request, now: 2 }))).toEqual(['a2', 'a3'])
    expect(dead).toEqual(['a1'])
  })

  it('orders a group by sequence number, whatever order the answers came in', () => {
    const [late, early] = [
      message('c', 'late', { sequenceNumber: '2' }),
      message('c', 'early', { sequenceNumber: '1' }),
    ]
    state.add(late)
    state.add(early)
    expect(bodies(receive(state, 0).filter(({ groupId }) => groupId === 'c'))).toEqual(['early', 'late'])
  })

  it('lets a delayed message wait without holding what stands before it', () => {
    state.add(message('a', 'a4', { visibleAt: 500 }))
    expect(bodies(receive(state, 0))).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
    expect(state.depth(0)).toEqual({ visible: 0, invisible: 5, delayed: 1 })
  })

  it('counts what is visible and what is hidden, and forgets all when purged', () => {
    receive(state, 0, 2)
    expect(state.depth(0)).toEqual({ visible: 3, invisible: 2, delayed: 0 })
    state.purge()
    expect(state.depth(0)).toEqual({ visible: 0, invisible: 0, delayed: 0 })
  })
})

describe('a standard queue', () => {
  it('lets each message go its own way and takes an old handle for a delete', () => {
    const state = createQueueState({ fifo: false })
    for (const body of ['one', 'two']) state.add(message('tenant', body))
    const [one] = receive(state, 0, 1)
    expect(bodies(receive(state, 1))).toEqual(['two'])
    expect(state.delete(one?.handle ?? '', HIDDEN + 5)).toBe('ok')
    expect(state.depth(HIDDEN + 5)).toEqual({ visible: 1, invisible: 0, delayed: 0 })
  })
})
