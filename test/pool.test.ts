import { describe, expect, it } from 'vitest'
import { createPool, eachAtOnce } from '../src/pool.ts'

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

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('items side by side', () => {
  it('are begun in their turn, and never more than so many at a time', async () => {
    const begun: number[] = []
    let now = 0
    let most = 0
    const run = async (item: number) => {
      begun.push(item)
      most = Math.max(most, ++now)
      await turn()
      now--
    }
    await eachAtOnce([1, 2, 3, 4, 5, 6, 7], 3, run)
    expect([begun, most]).toEqual([[1, 2, 3, 4, 5, 6, 7], 3])
    await eachAtOnce([], 3, run)
    expect(begun).toHaveLength(7)
  })

  it('reject with the first error', async () => {
    const failing = async (item: number) => {
      await turn()
      throw new Error(`broken ${item}`)
    }
    await expect(eachAtOnce([1, 2], 2, failing)).rejects.toThrow('broken 1')
  })
})
