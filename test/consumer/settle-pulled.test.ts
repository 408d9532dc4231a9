import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { type PullDependencies, type PullSettlement, settlePulled } from '../../src/consumer/pull-delivery.ts'
import { checkWorker } from '../../src/consumer/pull-worker-options.ts'
import type { Exhausted } from '../../src/ledger/decide-claim.ts'
import type { PulledEvent } from '../../src/outbox/pull-claim.ts'
import { createPullKit } from '../support/pull-kit.ts'

const claimed = { event: { id: 'e1', life: 100 }, claims: 1, lease: 9 } as unknown as PulledEvent
const exhausted: Exhausted = {
  id: 'e1',
  name: 'c/x',
  token: 't',
  status: 'failed',
  attempts: 8,
  life: 100,
  failure: 'why',
}

/** What the row and the ledger are told, and what metrics and log. `answer`: what the row says to it. */
async function told(
  settlement: Exclude<PullSettlement, { status: 'wait-alone' }>,
  { answer = true, event = claimed }: { answer?: boolean | Error; event?: PulledEvent } = {},
) {
  const calls: unknown[] = []
  const row =
    (name: string) =>
    async (_: unknown, ...rest: readonly unknown[]) => {
      calls.push([name, ...rest])
      if (answer instanceof Error) throw answer
      return answer
    }
  const log = (level: string) => (message: string, fields: object) => void calls.push([level, message, fields])
  const dependencies = {
    pull: { acknowledge: row('acknowledge'), release: row('release'), deadLetter: row('deadLetter') },
    ledger: { bury: async (one: Exhausted) => void calls.push(['bury', one.name]) },
    telemetry: { count: (metric: string) => void calls.push(metric) },
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
  } as unknown as PullDependencies
  await settlePulled(dependencies, event, settlement)
  return calls
}

describe('a pulled event', () => {
  it('that is done is acknowledged, and one that waits is released until it is due', async () => {
    expect(await told({ status: 'done' })).toEqual([['acknowledge']])
    expect(await told({ status: 'later', due: 7 })).toEqual([['release', 7]])
  })

  it('that is dead is a dead row first, with a later life for its handlers, and then dead in the ledger', async () => {
    const dead = { status: 'dead', handlers: ['c/x', 'c/y'], exhausted: [exhausted] } as const
    expect(await told(dead)).toEqual([
      ['deadLetter', 'why', { life: 101, handlers: ['c/x', 'c/y'], attempts: 8 }],
      'deadLettered',
      ['error', 'event dead-lettered', { eventId: 'e1', handler: 'c/x', attempts: 8 }],
      ['bury', 'c/x'],
    ])
  })

  it('gets a life later than its own, its note’s and that of every row in the ledger', async () => {
    const note = { life: 300, handlers: ['c/x'] }
    const lifeOf = async (life: number, event: object) => {
      const dead = { status: 'dead', handlers: ['c/x'], exhausted: [{ ...exhausted, life }] } as const
      return (await told(dead, { event: event as PulledEvent }))[0]
    }
    expect(await lifeOf(100, { ...claimed, note })).toMatchObject({ 2: { life: 301 } })
    expect(await lifeOf(500, { ...claimed, note })).toMatchObject({ 2: { life: 501 } })
    expect(await lifeOf(1, claimed)).toMatchObject({ 2: { life: 101 } })
  })

  it('says that the ledger has it as dead, where nothing gave up now', async () => {
    expect(await told({ status: 'dead', handlers: ['c/y'], exhausted: [] })).toEqual([
      ['deadLetter', 'the ledger has it as dead', { life: 101, handlers: ['c/y'], attempts: 0 }],
    ])
  })

  it('that is somebody else’s by now is left to them, the ledger too', async () => {
    const dead = { status: 'dead', handlers: ['c/x'], exhausted: [exhausted] } as const
    expect((await told(dead, { answer: false })).slice(1)).toEqual(['claimLost'])
    expect((await told({ status: 'done' }, { answer: false })).slice(1)).toEqual(['claimLost'])
  })

  it('whose answer is not stored is counted and logged, and nothing is thrown', async () => {
    const answer = Object.assign(new Error('secret'), { name: 'Unavailable' })
    expect((await told({ status: 'done' }, { answer })).slice(1)).toEqual([
      'markFailed',
      ['warn', 'answer not stored', { eventId: 'e1', reason: 'Unavailable' }],
    ])
  })
})

describe('the options of a pull worker', () => {
  const kit = createPullKit()
  const handlers = [on('t', 'a', () => {}, { maxAttempts: 3 }), on('t', 'b', () => {}, { maxAttempts: 10 })]
  const pull = kit.worker('w', { maxClaims: 12 })
  const check = (more: object) => () => checkWorker({ name: 'shop', pull, ledger: kit.ledger, handlers, ...more })

  it('have defaults, and take two claims more than the most attempts', () => {
    expect(check({})()).toEqual({ concurrency: 10, idleMs: 5000 })
    expect(check({ concurrency: 100, idleSeconds: 1, ignore: [], outbox: kit.ledger.committer })()).toEqual({
      concurrency: 100,
      idleMs: 1000,
    })
  })

  it.each<[object, string]>([
    [
      { workers: 1 },
      'runPullWorker: "workers" is not an option; allowed are name, pull, ledger, outbox, handlers, ignore,',
    ],
    [{ name: 'a/b' }, 'name must be 1–64'],
    [{ ignore: 't' }, 'ignore must be an array of types.'],
    [{ pull: undefined }, 'pull must be made by outbox.pull.'],
    [{ pull: { maxClaims: 99 } }, 'pull must be made by outbox.pull.'],
    [
      { pull: { ...pull, maxClaims: 11 } },
      "pull must have at least 12 maxClaims, two more than its handlers' maxAttempts.",
    ],
    [{ concurrency: 101 }, 'concurrency must be a whole number of events from 1 to 100.'],
    [{ idleSeconds: 3601 }, 'idleSeconds must be a whole number of seconds from 1 to 3600.'],
  ])('are refused where they would go wrong later: %o', (more, message) => {
    expect(check(more)).toThrow(
      expect.objectContaining({ code: 'INVALID_SETTING', message: expect.stringContaining(message) }),
    )
  })
})
