import { describe, expect, it } from 'vitest'
import {
  acknowledgeChange,
  buryChange,
  claimChange,
  failChange,
  isAcknowledged,
  releaseChange,
  renewChange,
  versionOf,
} from '../../src/outbox/pull-changes.ts'
import type { ChangeAnswer, PullStore } from '../../src/outbox/pull-store.ts'
import { land, unavailable } from '../../src/outbox/pull-write.ts'
import { deadShard } from '../../src/outbox/row.ts'
import { testClock } from '../support/clock.ts'

const key = { pk: 'K#shop/a', sk: '-' }
const hold = { key, shard: 'w#shop#0', token: 'w 1', lease: 50, claims: 3 }
const held = { shard: 'w#shop#0', token: 'w 1', due: 50 }
const waiting = { shard: 'w#shop#0', token: undefined, due: 9 }

describe('a change of a row', () => {
  it('to a claim expects the row as it was seen, and counts the claim', () => {
    expect(claimChange({ key, version: waiting, claims: 2 }, { token: 'w 2', lease: 60 })).toEqual({
      key,
      expect: waiting,
      set: { token: 'w 2', due: 60, claims: 3 },
      remove: [],
    })
  })

  it('that is held expects its holder’s token and lease', () => {
    expect(versionOf(hold)).toEqual(held)
    const base = { key, expect: held }
    expect(renewChange(hold, 70)).toEqual({ ...base, set: { due: 70 }, remove: [] })
    expect(acknowledgeChange(hold, 99)).toEqual({ ...base, set: { expires: 99 }, remove: ['shard'] })
    expect(failChange(hold, { due: 80, reason: 'why' })).toEqual({
      ...base,
      set: { due: 80, failure: 'why' },
      remove: ['token'],
    })
    expect(releaseChange(hold, 80)).toEqual({ ...base, set: { due: 80, claims: 2 }, remove: ['token'] })
  })

  it('to a dead row never expires, keeps its claims, and has a due for the index', () => {
    const grave = { key, version: waiting, claims: 3, reason: 'why', at: 77 }
    const set = { shard: deadShard(key), failure: 'why', claims: 3, due: 9 }
    expect(buryChange(grave)).toEqual({ key, expect: waiting, set, remove: ['token', 'expires'] })
    expect(buryChange({ ...grave, version: { ...waiting, due: undefined } }).set).toEqual({ ...set, due: 77 })
    const note = { life: 1, handlers: ['c/h'] }
    expect(buryChange({ ...grave, note }).set).toEqual({ ...set, note: JSON.stringify(note) })
  })

  it('to an acknowledged row is seen by its token on a relayed row', () => {
    expect(isAcknowledged({ token: 'w 1' }, hold)).toBe(true)
    expect(isAcknowledged({ token: 'w 2' }, hold)).toBe(false)
    expect(isAcknowledged({ token: 'w 1', shard: 'd#0' }, hold)).toBe(false)
    expect(isAcknowledged(undefined, hold)).toBe(false)
  })
})

describe('sending a change', () => {
  const change = renewChange(hold, 70)
  const send = async (...answers: readonly (ChangeAnswer | Error)[]) => {
    const left = [...answers]
    let sent = 0
    const store = {
      change: async () => {
        sent++
        const answer = left.shift()
        if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no more answers')
        return answer
      },
    } as unknown as PullStore
    const clock = testClock()
    const landed = land({ store, clock }, change, ({ token }) => token === 'w 1')
    return { landed: await landed.catch(({ message }: Error) => message), sent, sleeps: clock.sleeps }
  }
  const down = new Error('down')

  it('has landed when it is answered so, or where the row shows what it wrote', async () => {
    expect((await send({ status: 'landed' })).landed).toBe(true)
    expect((await send({ status: 'gone', row: { token: 'w 1' } })).landed).toBe(true)
    expect((await send({ status: 'gone', row: { token: 'w 2' } })).landed).toBe(false)
    expect((await send({ status: 'gone', row: undefined })).landed).toBe(false)
  })

  it('is tried three times while it is not answered, after growing pauses', async () => {
    expect(await send(down, down, { status: 'landed' })).toEqual({ landed: true, sent: 3, sleeps: [50, 100] })
    expect(await send(down, down, down)).toEqual({ landed: 'down', sent: 3, sleeps: [50, 100] })
  })

  it('that was never answered is an outage that names the error', () => {
    const cause = Object.assign(new Error('secret'), { name: 'TimeoutError' })
    expect(unavailable('Nothing was claimed', cause)).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Nothing was claimed: the outbox table did not answer (TimeoutError). Try again later.',
      details: { reason: 'TimeoutError' },
      cause,
    })
  })
})
