import { describe, expect, it } from 'vitest'
import { createPool } from '../../src/relay/pool.ts'

describe('createPool', () => {
  it('runs at most so many tasks at a time, in the order in which they came', async () => {
    const pool = createPool(3)
    const order: number[] = []
    let running = 0
    let most = 0
    const task = (n: number) => async () => {
      order.push(n)
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return n * 2
    }
    expect(await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => pool.run(task(n))))).toEqual([2, 4, 6, 8, 10, 12, 14])
    expect(order).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(most).toBe(3)
  })

  it('hands out work only as it is taken', async () => {
    const pool = createPool(1)
    const first = Promise.withResolvers<void>()
    await pool.start(() => first.promise)
    let begun = false
    const second = pool.start(async () => {
      begun = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toBe(false)
    first.resolve()
    await second
    await pool.idle()
    expect(begun).toBe(true)
  })

  it('frees the place of a task that fails, and gives the error of a started one at the end', async () => {
    const pool = createPool(1)
    await expect(pool.run(async () => Promise.reject(new Error('one')))).rejects.toThrow('one')
    await pool.start(async () => Promise.reject(new Error('two')))
    expect(await pool.run(async () => 3)).toBe(3)
    await expect(pool.idle()).rejects.toThrow('two')
  })
})
