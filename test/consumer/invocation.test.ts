import { describe, expect, it } from 'vitest'
import type { ConsumerQueue } from '../../src/consumer/consumer-queue.ts'
import { beginInvocation, isTimeEnough } from '../../src/consumer/invocation.ts'
import { readMessage } from '../../src/consumer/message.ts'
import { giveBack, holdMessages, secondsUntil } from '../../src/consumer/visibility.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { sqsRecord } from '../../src/testing/records.ts'

const begin = (left: number, leaseSeconds?: number) => {
  const clock = createManualClock(0)
  const context = { getRemainingTimeInMillis: () => left }
  const invocation = beginInvocation({ clock, context, ...(leaseSeconds === undefined ? {} : { leaseSeconds }) })
  return { clock, invocation }
}

describe('the time of an invocation', () => {
  it('sets the lease two seconds after its end, or later if told so, never earlier', () => {
    expect(begin(30_000).invocation.lease).toBe(32_000)
    expect(begin(30_000, 60).invocation.lease).toBe(60_000)
    expect(begin(30_000, 10).invocation.lease).toBe(32_000)
  })

  it('keeps a second for its end, or a fifth of a short one', () => {
    expect(begin(30_000).invocation.deadline).toBe(29_000)
    expect(begin(1000).invocation.deadline).toBe(800)
  })

  it('aborts its signal at its deadline, with a reason', async () => {
    const { clock, invocation } = begin(30_000)
    await clock.advance(28_999)
    expect(invocation.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(invocation.signal.reason).toMatchObject({ message: 'The invocation is about to end.' })
  })

  it('keeps half of its time free once something is to run alone', async () => {
    const { clock, invocation } = begin(30_000)
    await clock.advance(15_000)
    expect([invocation.hasTime(false), invocation.hasTime(true)]).toEqual([true, true])
    invocation.reserveAlone()
    expect([invocation.hasTime(false), invocation.hasTime(true)]).toEqual([false, true])
  })

  it('leaves no timer behind', () => {
    const { clock, invocation } = begin(30_000)
    expect(clock.sleepers()).toBe(1)
    invocation.end()
    expect(clock.sleepers()).toBe(0)
    expect(invocation.signal.aborted).toBe(false)
  })

  it('measures by the longest run, also one that fails', async () => {
    const { clock, invocation } = begin(30_000)
    await invocation.measure(() => clock.advance(10_000))
    expect(invocation.hasTime(false)).toBe(true)
    await expect(
      invocation.measure(async () => {
        await clock.advance(11_000)
        throw new Error('broken')
      }),
    ).rejects.toThrow('broken')
    expect(invocation.hasTime(false)).toBe(false)
  })
})

describe('beginning a handler', () => {
  const whole = 30_000
  const time = { left: whole, whole, reserve: 1000, longest: 0, alone: false, reserved: false }

  it('needs one and a half times the longest run so far', () => {
    expect(isTimeEnough({ ...time, left: 7001, longest: 4000 })).toBe(true)
    expect(isTimeEnough({ ...time, left: 7000, longest: 4000 })).toBe(false)
  })

  it('alone needs half of the invocation', () => {
    expect(isTimeEnough({ ...time, left: 15_000, alone: true })).toBe(true)
    expect(isTimeEnough({ ...time, left: 14_999, alone: true })).toBe(false)
  })

  it('beside others leaves half to what waits to run alone', () => {
    expect(isTimeEnough({ ...time, left: 16_000, reserved: true })).toBe(true)
    expect(isTimeEnough({ ...time, left: 15_000, reserved: true })).toBe(false)
    expect(isTimeEnough({ ...time, left: 15_000, reserved: true, alone: true })).toBe(true)
  })
})

describe('a batch that is held', () => {
  const messages = Array.from({ length: 25 }, (_, n) =>
    readMessage(sqsRecord({ body: '{}', messageId: `m${n}`, receiptHandle: `h${n}` })),
  )
  const queueOf = (setVisibility: ConsumerQueue['setVisibility']): ConsumerQueue => ({
    setVisibility,
    deadLetter: async () => ({ status: 'sent' }),
  })

  it('asks for ten messages at a time, each until shortly after its claim lapses, and tells which are lost', async () => {
    const requests: (readonly { receiptHandle: string; seconds: number }[])[] = []
    const arns: string[] = []
    const queue = queueOf(async (arn, entries) => {
      arns.push(arn)
      requests.push(entries)
      return entries.map(({ receiptHandle }) => (receiptHandle === 'h12' ? 'lost' : 'changed'))
    })
    expect([...(await holdMessages(queue, messages, 30_000))]).toEqual([messages[12]])
    expect(requests.map((entries) => entries.length)).toEqual([10, 10, 5])
    expect(requests.flat()).toEqual(messages.map(({ receiptHandle }) => ({ receiptHandle, seconds: 32 })))
    expect(new Set(arns)).toEqual(new Set([messages[0]?.queueArn]))
  })

  it('takes no message for ours that has no id, and every other one where the queue says nothing of it', async () => {
    const nameless = readMessage(sqsRecord({ body: '{}', messageId: '', receiptHandle: 'h' }))
    const odd: ConsumerQueue['setVisibility'][] = [
      async () => [],
      async () => undefined as never,
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('down')
      },
    ]
    for (const setVisibility of odd) {
      expect([...(await holdMessages(queueOf(setVisibility), [...messages, nameless], 1000))]).toEqual([nameless])
    }
  })

  it('gives back each message at its own time, and leaves those alone that are not ours', async () => {
    const [one, two, three] = messages
    if (one === undefined || two === undefined || three === undefined) throw new Error('no messages')
    const set: unknown[] = []
    const queue = queueOf(async (_, entries) => {
      set.push(...entries)
      return entries.map(() => 'changed')
    })
    const unsettled = [
      { message: one, due: 5000 },
      { message: two, due: undefined },
      { message: three, due: 500 },
    ]
    await giveBack(queue, unsettled, 1000)
    expect(set).toEqual([
      { receiptHandle: 'h0', seconds: 4 },
      { receiptHandle: 'h2', seconds: 0 },
    ])
  })
})

describe('visibility', () => {
  it('is in whole seconds, rounded up, never negative, and within what SQS allows', () => {
    expect(secondsUntil(1001, 0)).toBe(2)
    expect(secondsUntil(1000, 0)).toBe(1)
    expect(secondsUntil(0, 5000)).toBe(0)
    expect(secondsUntil(86_400_000, 0)).toBe(42_200)
  })
})
