import { describe, expect, it } from 'vitest'
import { requestRandom } from '../chaos/faults/chance.ts'
import { decideFault } from '../chaos/faults/decide-fault.ts'
import { CALM, type RequestRates, STORMY } from '../chaos/faults/rates.ts'
import { toRequest } from '../chaos/faults/request.ts'
import { createWeather } from '../chaos/faults/weather.ts'

const MANY = 4000
const draw = (operation: string, rates: RequestRates, seed = 1) =>
  Array.from({ length: MANY }, (_, n) =>
    decideFault({ operation, label: operation, role: 'relay' }, rates, requestRandom(seed, 'relay#1', n)),
  )

describe('The fault of a request', () => {
  it('is the same in every run of a seed, whatever other processes do', () => {
    expect(draw('UpdateItem', STORMY)).toEqual(draw('UpdateItem', STORMY))
    expect(draw('UpdateItem', STORMY, 2)).not.toEqual(draw('UpdateItem', STORMY))
  })

  it('is none while all is calm', () => {
    expect(draw('TransactWriteItems', CALM).every(({ kind }) => kind === 'none')).toBe(true)
  })

  it('comes about as often as its rate says', () => {
    const dropped = draw('UpdateItem', { ...CALM, dropped: 0.1, late: 0.2 }).filter(({ kind }) => kind === 'dropped')
    expect(dropped.length / MANY).toBeGreaterThan(0.08)
    expect(dropped.length / MANY).toBeLessThan(0.12)
  })

  it('is one that its operation can meet', () => {
    const kinds = (operation: string) => new Set(draw(operation, STORMY).map(({ kind }) => kind))
    expect(kinds('TransactWriteItems')).toContain('inProgress')
    expect(kinds('UpdateItem')).not.toContain('inProgress')
    expect(kinds('GetItem')).not.toContain('partial')
    expect(kinds('ReceiveMessage')).not.toContain('duplicated')
  })
})

describe('The weather', () => {
  const request = toRequest(
    { id: 1, n: 1, process: 'relay#1', target: 'AmazonSQS.SendMessageBatch' },
    Buffer.from('{}'),
  )
  const watch = (seed: number) => {
    const weather = createWeather(seed)
    weather.setRates({ outages: 1, denials: 1 }, 0)
    return Array.from({ length: 3600 }, (_, second) =>
      request === undefined ? undefined : weather.against(request, second * 1000),
    )
  }

  it('is the same for a seed, and each outage and denial ends', () => {
    const hour = watch(3)
    expect(watch(3)).toEqual(hour)
    const against = new Set(hour.filter((found) => found !== undefined))
    expect(against.size).toBeGreaterThan(20)
    expect(hour.filter((found) => found === undefined).length).toBeGreaterThan(1800)
  })
})
