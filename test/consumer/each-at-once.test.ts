import { describe, expect, it } from 'vitest'
import { eachAtOnce } from '../../src/consumer/each-at-once.ts'

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
