import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import type { Handler, HandlerOptions } from '../../src/consumer/handler.ts'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { OutboxError, permanentError } from '../../src/errors.ts'
import type { CommitOutcome } from '../../src/outbox/commit.ts'
import { proves } from '../cases.ts'
import { createConsumerKit, FUNCTION_MS, START } from '../support/consumer-kit.ts'

const EVENT = { group: 'a', n: 1 } as const
const LIFE = START - 1000

type Act = (context: HandlerContext, run: number) => unknown

/** A handler whose runs are counted, and which does what is told. */
function handler(name: string, act: Act = () => undefined, options: HandlerOptions = {}) {
  const state = { runs: 0 }
  const made: Handler = on('order.placed', name, (_, context) => act(context, ++state.runs), options)
  return Object.assign(made, { state })
}
const failing = (name: string, times = Number.POSITIVE_INFINITY, options?: HandlerOptions) =>
  handler(name, (_, run) => (run <= times ? Promise.reject(new Error('broken')) : undefined), options)

describe('two handlers of one message', () => {
  it('run apart: only the one that failed runs again', proves('two-handlers-one-fails'), async () => {
    const [sure, shaky] = [handler('sure'), failing('shaky', 2)]
    const kit = createConsumerKit({ handlers: [shaky, sure] })
    await kit.send(EVENT)
    await kit.drain()
    expect([sure.state.runs, shaky.state.runs]).toEqual([1, 3])
    // 5 s, then 10 s.
    expect(kit.clock.now()).toBe(START + 15_000)
    expect(kit.counts.get('handled')).toBe(2)
  })

  it('come back when the earlier of the two is due', async () => {
    const backoff = { firstSeconds: 60 }
    const kit = createConsumerKit({ handlers: [failing('late', 1, { backoff }), failing('early', 1)] })
    await kit.send(EVENT)
    await kit.invoke()
    expect(kit.comesBackAt()).toBe(START + 5000)
  })

  it('one of them dead, does not run while the other one retries', proves('dead-while-other-retries'), async () => {
    const [doomed, shaky] = [failing('doomed', undefined, { maxAttempts: 1 }), failing('shaky', 3)]
    const kit = createConsumerKit({ handlers: [doomed, shaky] })
    await kit.send(EVENT)
    await kit.drain()
    expect([doomed.state.runs, shaky.state.runs]).toEqual([1, 4])
    expect(kit.deadLetters()).toMatchObject([{ note: { handlers: ['shop/doomed'] } }])
    expect(kit.counts.get('deadSuppressed')).toBe(3)
  })

  it('both dead within five minutes, leave two copies', proves('two-dead-of-one-message'), async () => {
    const options = { maxAttempts: 1 }
    const kit = createConsumerKit({
      handlers: [failing('one', undefined, options), failing('two', undefined, options)],
    })
    await kit.send(EVENT)
    await kit.drain()
    const names = [...kit.deadLetters(), ...kit.deadLetters()].map(({ note }) => note?.handlers[0])
    expect(names.toSorted()).toEqual(['shop/one', 'shop/two'])
  })
})

describe('a failing handler', () => {
  it('is retried on the schedule and dead-lettered at the limit, its followers after it', async () => {
    const broken = handler('reserve', ({ attempt }, run) => {
      expect(attempt).toBe(run)
      throw new TypeError('x is not a function')
    })
    const kit = createConsumerKit({ handlers: [broken] })
    await kit.send(EVENT)
    await kit.drain()
    expect(broken.state.runs).toBe(8)
    expect(kit.clock.now() - START).toBe((5 + 10 + 20 + 40 + 80 + 160 + 300) * 1000)
    const [{ note, body, group } = {}] = kit.deadLetters()
    expect(note).toEqual({
      life: LIFE + 1,
      handlers: ['shop/reserve'],
      attempts: 8,
      reason: 'TypeError: x is not a function',
    })
    expect([JSON.parse(body ?? '').type, group]).toEqual(['order.placed', 'a'])
    expect(kit.row(EVENT, 'reserve')).toMatchObject({ status: 'dead', attempts: 8 })
  })

  it('spends nothing by errors that may pass', async () => {
    const codes = ['TRANSACTION_BUSY', 'OUTCOME_UNKNOWN', 'UNAVAILABLE', 'CLAIM_LOST'] as const
    const busy = handler('reserve', (_, run) => {
      const code = codes[run - 1]
      if (code !== undefined) throw new OutboxError(code, 'later')
    })
    const kit = createConsumerKit({ handlers: [busy] })
    await kit.send(EVENT)
    await kit.drain()
    expect(busy.state.runs).toBe(5)
    expect(kit.row(EVENT, 'reserve')).toMatchObject({ status: 'done', attempts: 0 })
    expect(kit.counts.get('deferred')).toBe(4)
    expect(kit.counts.get('failed')).toBeUndefined()
  })

  it('may throw anything', async () => {
    const thrown = [
      undefined,
      null,
      'text',
      Object.create(null),
      {
        toString: () => {
          throw new Error('worse')
        },
      },
    ]
    const odd = handler('reserve', (_, run) => Promise.reject(thrown[run - 1]), { maxAttempts: thrown.length })
    const kit = createConsumerKit({ handlers: [odd] })
    await kit.send(EVENT)
    await kit.drain()
    expect(kit.deadLetters()).toHaveLength(1)
  })

  it('names schema paths and no value where the data does not fit, for good', async () => {
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: () => ({ issues: [{ message: 'got 4711', path: ['items', 0, 'total'] }] }),
      },
    }
    const kit = createConsumerKit({ handlers: [on({ type: 'order.placed', schema }, 'reserve', () => {})] })
    await kit.send(EVENT)
    await kit.drain()
    expect(kit.deadLetters()).toMatchObject([
      { note: { reason: 'the data does not fit the schema at data.items[0].total' } },
    ])
  })
})

describe('dead-lettering', () => {
  it(
    'is resumed after a crash at any step: no second round, no second copy',
    proves('crash-while-dead-lettering'),
    async () => {
      for (const step of ['before-copy', 'after-copy', 'after-mark'] as const) {
        const doomed = handler('reserve', () => Promise.reject(permanentError('broken')))
        const kit = createConsumerKit({ handlers: [doomed] })
        await kit.send(EVENT)
        const reached = Promise.withResolvers<void>()
        const crash = (): Promise<never> => {
          reached.resolve()
          return new Promise(() => {})
        }
        const { queue, ledger } = kit.options
        const dying = kit.consumerWith({
          queue: {
            ...queue,
            deadLetter: async (copy) => {
              if (step === 'before-copy') return crash()
              const outcome = await queue.deadLetter(copy)
              return step === 'after-copy' ? crash() : outcome
            },
          },
          ledger: {
            ...ledger,
            bury: async (exhausted) => {
              await ledger.bury(exhausted)
              return crash()
            },
          },
        })
        void kit.invoke(10, dying)
        await reached.promise
        await kit.drain()
        expect([step, doomed.state.runs, kit.left()]).toEqual([step, 1, 0])
        expect(kit.deadLetters()).toHaveLength(1)
        expect(kit.row(EVENT, 'reserve')?.status).toBe('dead')
      }
    },
  )

  it('waits while the dead-letter queue refuses, and spends nothing more', async () => {
    let down = true
    const doomed = failing('reserve', undefined, { maxAttempts: 1 })
    const kit = createConsumerKit({
      handlers: [doomed],
      sqs: {
        failRequest: (action) =>
          down && action === 'SendMessage' && doomed.state.runs > 0
            ? { code: 'AccessDenied', message: '', senderFault: true }
            : undefined,
      },
    })
    await kit.send(EVENT)
    for (let tries = 0; tries < 20; tries++) {
      await kit.invoke()
      await kit.clock.advance((kit.comesBackAt() ?? 0) - kit.clock.now())
    }
    expect(kit.row(EVENT, 'reserve')).toMatchObject({ status: 'failed', attempts: 1 })
    down = false
    await kit.drain()
    expect([doomed.state.runs, kit.deadLetters().length, kit.left()]).toEqual([1, 1, 0])
  })

  it('of a message as large as SQS takes leaves out the attributes that do not fit, and holds nothing up', async () => {
    const kit = createConsumerKit({ handlers: [handler('reserve')] })
    const { client, queueUrl: QueueUrl } = kit.sqs
    const send = (n: number, bytes: number) =>
      client.send(
        new SendMessageCommand({
          QueueUrl,
          MessageBody: 'x'.repeat(bytes - 'colorStringred'.length),
          MessageAttributes: { color: { DataType: 'String', StringValue: 'red' } },
          MessageGroupId: `g${n}`,
          MessageDeduplicationId: String(n),
        }),
      )
    await send(1, 1_000)
    await send(2, 1_048_576 - 80)
    await send(3, 1_048_576)
    await kit.drain()
    expect(kit.left()).toBe(0)
    const records = kit.sqs.deadLetters.receive(10).map(({ attributes }) => Object.keys(attributes))
    expect(records).toEqual([['color', 'outbox'], ['outbox'], []])
  })

  it('of a redriven copy runs the named handler as a fresh life, and no other', proves('console-redrive'), async () => {
    let mended = false
    const shaky = handler('shaky', ({ redriven, attempt }) => {
      expect([redriven, attempt]).toEqual([mended, mended ? 1 : attempt])
      if (!mended) throw permanentError('not yet')
    })
    const sure = handler('sure')
    const kit = createConsumerKit({ handlers: [shaky, sure] })
    await kit.send(EVENT)
    await kit.drain()
    mended = true
    await kit.redriveAll()
    await kit.drain()
    expect([shaky.state.runs, sure.state.runs]).toEqual([2, 1])
    expect(kit.row(EVENT, 'shaky')).toMatchObject({ status: 'done', attempts: 0, life: LIFE + 1 })
    expect(kit.deadLetters()).toEqual([])
  })

  it(
    'of a redriven copy that fails again leaves a copy again, round after round',
    proves('redrive-within-dedup'),
    async () => {
      const doomed = handler('reserve', () => Promise.reject(permanentError('broken')))
      const kit = createConsumerKit({ handlers: [doomed] })
      await kit.send(EVENT)
      await kit.drain()
      for (let round = 2; round <= 4; round++) {
        await kit.redriveAll()
        await kit.drain()
        expect([doomed.state.runs, kit.sqs.deadLetters.depth().visible]).toEqual([round, 1])
      }
      expect(kit.deadLetters()).toMatchObject([{ note: { life: LIFE + 4 } }])
    },
  )

  it('sends a named handler that is not registered back, counted, and loses no round of it', async () => {
    const kit = createConsumerKit({ handlers: [handler('sure')] })
    await kit.send({ ...EVENT, note: { life: LIFE + 1, handlers: ['shop/gone'] } })
    await kit.drain()
    await kit.redriveAll()
    await kit.drain()
    expect(kit.counts.get('unknownHandler')).toBe(2)
    expect(kit.deadLetters()).toMatchObject([{ note: { life: LIFE + 3, handlers: ['shop/gone'] } }])
  })
})

describe('types and lives', () => {
  it('a type that nobody handles is dead-lettered, unless it is ignored', proves('unhandled-type'), async () => {
    for (const ignore of [[], ['order.shipped']]) {
      const sure = handler('sure')
      const kit = createConsumerKit({ handlers: [sure], consumer: { ignore } })
      await kit.send({ ...EVENT, type: 'order.shipped' }, { group: 'a', n: 2 })
      await kit.drain()
      expect([sure.state.runs, kit.left()]).toEqual([1, 0])
      expect(kit.counts.get('unhandledType')).toBe(ignore.length === 0 ? 1 : undefined)
      expect(kit.deadLetters().map(({ note }) => note?.reason)).toEqual(
        ignore.length === 0 ? ['no handler takes this type'] : [],
      )
    }
  })

  it('goes to its handler when it is redriven after a deploy', async () => {
    const kit = createConsumerKit({ handlers: [handler('sure')] })
    await kit.send({ ...EVENT, type: 'order.shipped' })
    await kit.drain()
    await kit.redriveAll()
    let shipped = 0
    const deployed = kit.consumerWith({ handlers: [on('order.shipped', 'ship', () => shipped++)] })
    expect(await kit.invoke(10, deployed)).toMatchObject({ received: 1, kept: 0 })
    expect(shipped).toBe(1)
  })

  it(
    'a replay runs the handler it names, though it is done, and no other',
    proves('replay-to-done-handler'),
    async () => {
      const [one, two] = [handler('one'), handler('two')]
      const kit = createConsumerKit({ handlers: [one, two] })
      await kit.send(EVENT)
      await kit.drain()
      const replay = { ...EVENT, note: { life: START, handlers: ['shop/two'] } }
      await kit.send(replay, replay)
      await kit.drain()
      expect([one.state.runs, two.state.runs]).toEqual([1, 2])
    },
  )

  it('a replay is nothing to a consumer, or to a type, that it does not name', async () => {
    const [one, two] = [handler('one'), on('order.shipped', 'two', () => {})]
    const kit = createConsumerKit({ handlers: [one, two] })
    await kit.send({ ...EVENT, note: { life: START, handlers: ['other/one', 'shop/two'] } })
    await kit.drain()
    expect([one.state.runs, kit.left(), kit.deadLetters()]).toEqual([0, 0, []])
    await kit.send({ ...EVENT, note: { life: START, handlers: ['shop/gone'] } })
    await kit.send({ ...EVENT, n: 2, note: { life: START, attempts: 8, handlers: ['other/one'] } })
    await kit.drain()
    expect(kit.counts.get('unknownHandler')).toBe(2)
    expect(kit.deadLetters()).toMatchObject([
      { note: { handlers: ['shop/gone'] } },
      { note: { handlers: ['other/one'] } },
    ])
  })

  it('a key enqueued again after its row expired is a later life', proves('key-again-after-expiry'), async () => {
    const sure = handler('sure')
    const kit = createConsumerKit({ handlers: [sure] })
    await kit.send(EVENT, EVENT, { ...EVENT, life: LIFE + 86_400_000 })
    await kit.drain()
    expect(sure.state.runs).toBe(2)
  })

  it(
    'keeps two consumers of one ledger with a handler of the same name apart',
    proves('same-handler-name'),
    async () => {
      const sure = handler('sure')
      const kit = createConsumerKit({ handlers: [sure] })
      await kit.send(EVENT)
      await kit.drain()
      await kit.send(EVENT)
      await kit.invoke(10, kit.consumerWith({ name: 'mail' }))
      expect(sure.state.runs).toBe(2)
    },
  )
})

describe('the ledger', () => {
  it(
    'out of reach: nothing runs, nothing is spent, and the message comes back ever later',
    proves('ledger-unreachable'),
    async () => {
      const sure = handler('sure')
      const kit = createConsumerKit({ handlers: [sure] })
      await kit.send(EVENT)
      const delays: number[] = []
      for (let tries = 0; tries < 10; tries++) {
        kit.store.faults.push('outage')
        expect(await kit.invoke()).toMatchObject({ received: 1, kept: 1 })
        const delay = (kit.comesBackAt() ?? 0) - kit.clock.now()
        delays.push(delay / 1000)
        await kit.clock.advance(delay)
      }
      expect(delays).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300, 300])
      expect([sure.state.runs, kit.store.rows.size, kit.counts.get('ledgerUnavailable')]).toEqual([0, 0, 10])
      await kit.invoke()
      expect([sure.state.runs, kit.left()]).toEqual([1, 0])
      expect(kit.row(EVENT, 'sure')).toMatchObject({ status: 'done', attempts: 0 })
    },
  )

  it('lost at completion for a while: the end is written when it is back', async () => {
    const sure = handler('sure', () => void kit.store.faults.push('outage', 'outage', 'outage'))
    const kit = createConsumerKit({ handlers: [sure] })
    await kit.send(EVENT)
    const answer = kit.invoke()
    await kit.pass(FUNCTION_MS)
    expect(await answer).toMatchObject({ kept: 0 })
    expect(kit.row(EVENT, 'sure')).toMatchObject({ status: 'done', attempts: 0 })
  })

  it('lost at completion until the end: the message stays, and the handler runs again alone', async () => {
    const sure = handler('sure', (_, run) => void kit.store.faults.push(...Array(run === 1 ? 99 : 0).fill('outage')))
    const kit = createConsumerKit({ handlers: [sure] })
    await kit.send(EVENT)
    const answer = kit.invoke()
    await kit.pass(FUNCTION_MS)
    expect(await answer).toMatchObject({ kept: 1 })
    kit.store.faults.length = 0
    await kit.drain()
    expect(sure.state.runs).toBe(2)
    expect(kit.counts.get('takenOver')).toBe(1)
    expect(kit.row(EVENT, 'sure')).toMatchObject({ status: 'done', attempts: 0 })
  })

  it('lost at a claim to run alone: what may stand is given back, and no attempt is spent', async () => {
    const sure = handler('sure', (_, run) => void kit.store.faults.push(...Array(run === 1 ? 99 : 0).fill('outage')))
    const kit = createConsumerKit({ handlers: [sure] })
    const unheard = kit.consumerWith({
      ledger: {
        ...kit.ledger,
        claim: async (request) => {
          const outcome = await kit.ledger.claim(request)
          if (!request.alone || outcome.status !== 'claimed') return outcome
          kit.store.faults.push('outage', 'outage', 'outage')
          return { status: 'unavailable', reason: 'TimeoutError', claim: outcome.claim }
        },
      },
    })
    await kit.send(EVENT)
    const first = kit.invoke()
    await kit.pass(FUNCTION_MS)
    await first
    kit.store.faults.length = 0
    await kit.clock.advance((kit.comesBackAt() ?? 0) - kit.clock.now())
    const second = kit.invoke(10, unheard)
    await kit.pass(FUNCTION_MS)
    expect(await second).toMatchObject({ received: 1, kept: 1 })
    expect(kit.row(EVENT, 'sure')).toMatchObject({ status: 'failed', attempts: 0 })
    await kit.drain()
    expect(sure.state.runs).toBe(2)
    expect(kit.row(EVENT, 'sure')).toMatchObject({ status: 'done', attempts: 0 })
  })

  it('taken over meanwhile: the late worker changes nothing', proves('late-worker'), async () => {
    const gate = Promise.withResolvers<void>()
    const paused = handler('sure', (_, run) => (run === 1 ? gate.promise : Promise.reject(new Error('broken'))))
    const kit = createConsumerKit({ handlers: [paused] })
    await kit.send(EVENT)
    const late = kit.invoke()
    while (paused.state.runs === 0) await new Promise((resolve) => setImmediate(resolve))
    await kit.clock.advance((kit.comesBackAt() ?? 0) - kit.clock.now())
    await kit.invoke()
    const failed = kit.row(EVENT, 'sure')
    expect(failed).toMatchObject({ status: 'failed', attempts: 1 })
    gate.resolve()
    expect(await late).toMatchObject({ kept: 1 })
    expect(kit.row(EVENT, 'sure')).toEqual(failed)
    expect(kit.counts.get('claimLost')).toBe(1)
  })
})

describe('commit', () => {
  const undecided: CommitOutcome[] = [
    { status: 'busy', reason: 'TransactionConflict', cause: undefined },
    { status: 'unavailable', reason: 'AccessDeniedException', cause: undefined },
    { status: 'unknown', cause: undefined },
    { status: 'guard-failed', index: 0, item: { token: 'another', status: 'alone' } },
  ]

  it('whose failure the handler swallows is a deferral', proves('swallowed-commit-failure'), async () => {
    for (const rethrow of [false, true]) {
      const swallowing = handler('reserve', async ({ commit }) => {
        try {
          await commit([])
        } catch (error) {
          if (rethrow) throw error
        }
      })
      const kit = createConsumerKit({ handlers: [swallowing] })
      kit.committer.script.push(...undecided)
      await kit.send(EVENT)
      for (let n = 1; n <= undecided.length; n++) {
        expect(await kit.invoke()).toMatchObject({ kept: 1 })
        expect(kit.row(EVENT, 'reserve')).toMatchObject({ status: 'failed', attempts: 0 })
        await kit.clock.advance((kit.comesBackAt() ?? 0) - kit.clock.now())
      }
      expect(await kit.invoke()).toMatchObject({ kept: 0 })
      expect(kit.committer.requests).toHaveLength(1)
    }
  })

  it('that landed is done, though the handler throws', proves('commit-landed-handler-throws'), async () => {
    const throwing = handler('reserve', async ({ commit }) => {
      await commit([])
      throw new Error('after all')
    })
    const kit = createConsumerKit({ handlers: [throwing] })
    await kit.send(EVENT)
    expect(await kit.invoke()).toMatchObject({ kept: 0 })
    expect([throwing.state.runs, kit.counts.get('thrownAfterCommit')]).toEqual([1, 1])
  })

  it(
    'that landed, its answer lost, is done, whether the handler throws or returns',
    proves('commit-landed-handler-throws'),
    async () => {
      for (const swallow of [false, true]) {
        const unlucky = handler('reserve', ({ commit }) =>
          commit([]).catch((error) => (swallow ? undefined : Promise.reject(error))),
        )
        const kit = createConsumerKit({ handlers: [unlucky] })
        kit.committer.script.push('lost-answer')
        await kit.send(EVENT)
        expect(await kit.invoke()).toMatchObject({ kept: 0 })
        await kit.drain()
        expect([unlucky.state.runs, kit.committer.requests.length, kit.row(EVENT, 'reserve')?.status]).toEqual([
          1,
          1,
          'done',
        ])
      }
    },
  )

  it('may follow one whose own condition failed, or the handler may return', async () => {
    const refused: CommitOutcome = { status: 'condition-failed', index: 0, item: { left: 0 }, cause: undefined }
    for (const again of [true, false]) {
      const choosing = handler('reserve', async ({ commit }) => {
        await expect(commit([])).rejects.toMatchObject({
          code: 'CONDITION_FAILED',
          details: { index: 0, item: { left: 0 } },
        })
        if (again) await commit([])
      })
      const kit = createConsumerKit({ handlers: [choosing] })
      kit.committer.script.push(refused)
      await kit.send(EVENT)
      expect(await kit.invoke()).toMatchObject({ kept: 0 })
      expect([choosing.state.runs, kit.committer.requests.length]).toEqual([1, again ? 1 : 0])
    }
  })

  it('that was wrong in itself is a failure, also if the handler returns', async () => {
    const wrong = handler('reserve', ({ commit }) => commit([]).catch(() => {}), { maxAttempts: 2 })
    const kit = createConsumerKit({ handlers: [wrong] })
    kit.committer.script.push({ status: 'conflict' }, { status: 'conflict' })
    await kit.send(EVENT)
    await kit.drain()
    expect(kit.deadLetters()).toMatchObject([
      { note: { attempts: 2, reason: expect.stringContaining('other content') } },
    ])
  })

  it('is refused a second time, and while one is running', async () => {
    const greedy = handler('reserve', async ({ commit }) => {
      const first = commit([])
      await expect(commit([])).rejects.toMatchObject({ code: 'INVALID_USE' })
      await first
      await expect(commit([])).rejects.toMatchObject({ code: 'INVALID_USE' })
    })
    const kit = createConsumerKit({ handlers: [greedy] })
    await kit.send(EVENT)
    expect(await kit.invoke()).toMatchObject({ kept: 0 })
    expect(kit.committer.requests).toHaveLength(1)
  })

  it('that the handler did not await is waited for', async () => {
    const hasty = handler('reserve', ({ commit }) => void commit([]))
    const kit = createConsumerKit({ handlers: [hasty] })
    const gate = Promise.withResolvers<void>()
    kit.committer.script.push(gate.promise)
    await kit.send(EVENT)
    const answer = kit.invoke()
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    gate.resolve()
    expect(await answer).toMatchObject({ kept: 0 })
    expect(kit.committer.requests).toHaveLength(1)
    expect(kit.counts.get('claimLost')).toBeUndefined()
  })

  it('is refused once the handler has ended: it would look landed, for the row is done under its own token', async () => {
    let late = Promise.resolve<unknown>('not tried')
    const gate = Promise.withResolvers<void>()
    const leaking = handler('reserve', ({ commit }) => {
      late = gate.promise.then(() => commit([])).catch(({ code }) => code)
    })
    const kit = createConsumerKit({ handlers: [leaking] })
    await kit.send(EVENT)
    await kit.invoke()
    gate.resolve()
    expect(await late).toBe('INVALID_USE')
    expect([kit.committer.requests.length, kit.row(EVENT, 'reserve')?.status]).toEqual([0, 'done'])
  })

  it('takes events only with an outbox', async () => {
    const event = { source: 's', type: 't', key: 'k', data: 1 }
    const eager = handler('reserve', ({ commit }) => commit([], { events: [event] }), { maxAttempts: 1 })
    const kit = createConsumerKit({ handlers: [eager] })
    await kit.send(EVENT)
    await kit.drain()
    expect(kit.deadLetters()).toMatchObject([{ note: { reason: expect.stringContaining('outbox') } }])
  })
})
