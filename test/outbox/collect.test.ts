import { describe, expect, it } from 'vitest'
import { isOutboxError } from '../../src/errors.ts'
import { type Collector, gather } from '../../src/outbox/collect.ts'
import { proves } from '../cases.ts'

const event = (key: string) => ({ source: 's', type: 't', key, data: null })

describe('gather', () => {
  it('returns what was added, in order, and the result', async () => {
    const gathered = await gather<number, string>(async (tx) => {
      tx.write(1, 2)
      tx.enqueue(event('a'))
      const inner = await tx.collect((joined) => {
        joined.write(3)
        joined.enqueue(event('b'))
        return 'inner'
      })
      tx.write(4)
      return `outer ${inner}`
    })
    expect(gathered).toEqual({ writes: [1, 2, 3, 4], events: [event('a'), event('b')], result: 'outer inner' })
  })

  it('drops only what a failed inner function added', async () => {
    const gathered = await gather<number, void>(async (tx) => {
      tx.write(1)
      await tx
        .collect((joined) => {
          joined.write(2)
          joined.enqueue(event('b'))
          throw new Error('inner')
        })
        .catch(() => undefined)
      tx.write(3)
    })
    expect(gathered).toMatchObject({ writes: [1, 3], events: [] })
  })

  it('rejects with the error of the outer function', async () => {
    await expect(gather(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  })

  it('refuses a tx after its end', proves('no-silent-exit'), async () => {
    let kept: Collector<number> | undefined
    await gather<number, void>((tx) => {
      kept = tx
    })
    const message = 'This tx has ended, so nothing can be added to it. Await all work inside collect.'
    const refused = expect.objectContaining({ code: 'INVALID_USE', message })
    expect(() => kept?.write(1)).toThrow(refused)
    expect(() => kept?.enqueue(event('a'))).toThrow(refused)
    await expect(kept?.collect(() => undefined)).rejects.toThrow(refused)
  })

  it('refuses an inner tx after its end', proves('no-silent-exit'), async () => {
    await gather<number, void>(async (tx) => {
      let kept: Collector<number> | undefined
      await tx.collect((joined) => {
        kept = joined
      })
      expect(() => kept?.write(1)).toThrow(expect.objectContaining({ code: 'INVALID_USE' }))
    })
  })

  it('refuses to end while an inner function still runs', proves('no-silent-exit'), async () => {
    const inner = Promise.withResolvers<void>()
    let joined: Promise<void> | undefined
    const outer = gather<number, void>((tx) => {
      joined = tx.collect(() => inner.promise)
    })
    await expect(outer).rejects.toMatchObject({
      code: 'INVALID_USE',
      message: 'Nothing was sent: an inner collect was still running when the outer one ended. Await it.',
    })
    inner.resolve()
    const error = await joined?.catch((reason: unknown) => reason)
    expect(isOutboxError(error, 'INVALID_USE')).toBe(true)
  })
})
