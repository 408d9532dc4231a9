import { describe, expect, it } from 'vitest'
import {
  createFunction,
  describeFailure,
  type FunctionOptions,
  inProcess,
  type LocalFunction,
} from '../../src/testing/function.ts'
import type { LambdaContext, LambdaHandler } from '../../src/testing/lambda-events.ts'
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts'

type Setup = { readonly clock: ManualClock; readonly target: LocalFunction<object> }

function setup(handler: LambdaHandler<object>, options: FunctionOptions = {}): Setup {
  const clock = createManualClock()
  return { clock, target: createFunction(options, { clock, runner: inProcess(handler, clock) }) }
}

const forever = (): Promise<never> => new Promise(() => {})

describe('a local function', () => {
  it('passes event and answer through JSON, a copy each', async () => {
    const event = { n: 1 }
    const { target } = setup((given: { n?: number }) => {
      given.n = 2
      return { when: new Date(0), gone: undefined }
    })
    expect(await target.invoke(event)).toEqual({ status: 'ok', response: { when: '1970-01-01T00:00:00.000Z' } })
    expect(event).toEqual({ n: 1 })
  })

  it('takes no answer for null', async () => {
    const { target } = setup(() => undefined)
    expect(await target.invoke({})).toEqual({ status: 'ok', response: null })
  })

  it("counts the remaining time down in the clock's time, to 0", async () => {
    const contexts: LambdaContext[] = []
    const { clock, target } = setup(
      (_, context) => {
        contexts.push(context)
        return forever()
      },
      { timeoutMs: 10_000 },
    )
    const running = target.invoke({})
    await clock.advance(4000)
    expect(contexts[0]?.getRemainingTimeInMillis()).toBe(6000)
    await clock.advance(60_000)
    expect(contexts[0]?.getRemainingTimeInMillis()).toBe(0)
    await running
  })

  it('ends an invocation at its timeout', async () => {
    const { clock, target } = setup(forever, { timeoutMs: 10_000 })
    const running = target.invoke({})
    await clock.advance(9999)
    expect(target.running()).toBe(1)
    await clock.advance(1)
    expect(await running).toEqual({ status: 'timeout' })
    expect(target.running()).toBe(0)
    expect(clock.sleepers()).toBe(0)
  })

  it('answers with the error of a handler that throws, at once or later, and leaves no timer', async () => {
    const { clock, target } = setup(() => {
      throw new TypeError('bad')
    })
    const outcome = await target.invoke({})
    expect(outcome).toMatchObject({ status: 'error', error: { message: 'bad' } })
    expect(describeFailure(outcome)).toBe('TypeError: bad')
    expect(clock.sleepers()).toBe(0)
  })

  it('throttles what is over its concurrency, and runs none at concurrency 0', async () => {
    const { target } = setup(async () => 'fine', { concurrency: 2 })
    const outcomes = await Promise.all([1, 2, 3].map(() => target.invoke({})))
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'throttled'])
    target.setConcurrency(0)
    expect(await target.invoke({})).toEqual({ status: 'throttled' })
    expect(target.counts()).toEqual({ invoked: 2, ok: 2, error: 0, timeout: 0, throttled: 2 })
  })
})
