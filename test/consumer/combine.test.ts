import { describe, expect, it } from 'vitest'
import { combine, type DeliveryOutcome } from '../../src/consumer/delivery.ts'

const settled: DeliveryOutcome = { status: 'settled' }
const until = (due: number): DeliveryOutcome => ({ status: 'unsettled', due })
const alone = (crashes: number): DeliveryOutcome => ({ status: 'wait-alone', crashes })

describe('a message of several handlers', () => {
  it.each<[string, DeliveryOutcome[], DeliveryOutcome]>([
    ['is settled without any', [], settled],
    ['is settled once all are', [settled, settled], settled],
    ['comes back for the earliest that is not', [until(9), settled, until(7), until(8)], until(7)],
    ['waits for its turn alone before all else', [until(1), alone(2), settled], alone(2)],
    ['waits behind those that crashed less, by its worst', [alone(1), alone(3), alone(2)], alone(3)],
  ])('%s', (_, outcomes, expected) => {
    expect(combine(outcomes)).toEqual(expected)
  })
})
