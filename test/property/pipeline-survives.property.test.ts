import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { permanentError } from '../../src/errors.ts'
import type { Event, NewEvent } from '../../src/event/event.ts'
import { eventId, eventKey } from '../../src/event/identity.ts'
import { redriveMessages } from '../../src/ops/redrive-messages.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { event } from '../support/any-event.ts'
import { type Pipeline, silent, startPipeline } from '../support/pipeline.ts'
import { runs } from './runs.ts'

const EVENTS = 12
const RUNS = 5

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await startPipeline({ speed: 20, sources: ['shop'] })
})
afterAll(() => pipeline.aws.stop())

/** Events with a type and, in this table, names of their own: any of them could have come twice. */
const events = fc.array(event, { minLength: EVENTS, maxLength: EVENTS }).map((all) =>
  all.map(({ identity, ...rest }, n) => {
    const own = `${n}/`
    if ('key' in identity) return { ...rest, source: 'shop', key: own + identity.key.slice(0, 100) }
    return { ...rest, source: 'shop', group: own + identity.group.slice(0, 100), sequence: identity.sequence }
  }),
)

it('every field and all of Unicode survives store, wire, handler, dead-letter queue and redrive', {
  ...proves('every-field-survives', 'odd-characters', 'empty-payload', 'ids-on-every-path'),
  timeout: 60_000,
}, async () => {
  const { aws, queue, write, row } = pipeline
  const { url: queueUrl, deadLetterUrl: deadLetterQueueUrl } = queue('shop')
  let run = 0
  await fc.assert(
    fc.asyncProperty(events, async (given) => {
      run += 1
      const prefix = `${run}-`
      const written = given.map((one) =>
        'key' in one ? { ...one, key: prefix + one.key } : { ...one, group: prefix + one.group },
      )
      const seen = { first: [] as Event[], redriven: [] as Event[] }
      const handle = (event: Event, { redriven }: { readonly redriven: boolean }) => {
        seen[redriven ? 'redriven' : 'first'].push(event)
        if (!redriven) throw permanentError(`not before ${JSON.stringify(event.data)}`)
      }
      const types = [...new Set(written.map(({ type }) => type))]
      const consumer = aws.startConsumer({
        queue: queue('shop'),
        name: 'shop',
        logger: silent,
        handlers: types.map((type) => on(type, 'note', handle)),
      })
      await write(...(written as NewEvent[]))
      const deadLetters = () => aws.queue(deadLetterQueueUrl).depth().visible
      await waitFor(() => deadLetters() === EVENTS, { describe: () => `${EVENTS} dead letters, not ${deadLetters()}` })
      const bodies = await Promise.all(written.map(async (one) => (await row(one))?.['body']))
      const copies = aws.queue(deadLetterQueueUrl).receive(EVENTS, 0)
      expect(copies.map(({ body }) => body).toSorted()).toEqual(bodies.toSorted())
      const letters = { client: aws.sqs, queueUrl, deadLetterQueueUrl }
      const ids = new Set(written.map(eventId))
      expect(await redriveMessages(letters, ({ id }) => ids.has(id))).toEqual({ redriven: EVENTS, failed: 0, left: 0 })
      await waitFor(() => seen.redriven.length >= EVENTS)
      await aws.idle()
      await consumer.stop()
      const expected = written.map((one) => ({
        ...one,
        data: JSON.parse(JSON.stringify(one.data)),
        id: eventId(one),
        key: eventKey(one),
        life: expect.any(Number),
      }))
      expect(byId(seen.first)).toEqual(byId(expected as Event[]))
      expect(byId(seen.redriven)).toEqual(byId(seen.first))
    }),
    { ...runs(RUNS), endOnFailure: true },
  )
})

function byId(all: readonly Event[]): readonly Event[] {
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}
