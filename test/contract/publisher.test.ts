import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createEventBridgePublisher } from '../../src/relay/event-bridge-publisher.ts'
import type { OutgoingMessage, Publisher } from '../../src/relay/publisher.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { createFakeSqs } from '../../src/testing/fake-sqs.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import { proves } from '../cases.ts'
import { createFakeEventBridge } from '../support/fake-event-bridge.ts'
import { createFakeQueue } from '../support/fake-queue.ts'
import { connectGivenSqs, SQS_ENDPOINT } from '../support/given-sqs.ts'

/**
 * What the relay relies on, for every publisher: the queue of the relay's tests, SQS as a strict fake and an engine play
 * it, and EventBridge as a strict fake plays it.
 */

type Subject = {
  readonly publisher: Publisher
  /** Bodies that arrived, in order; at most one of each group. */
  readonly arrived: () => Promise<string[]>
  /** A body whose content the destination never takes. */
  readonly bad: string
  readonly deduplicates: boolean
}

const BAD = '{"bad":"\uFFFF"}'
const RULES_OF_SQS = { bad: BAD, deduplicates: true }

let aws: LocalAws
let queues = 0
beforeAll(async () => {
  aws = await startLocalAws()
})
afterAll(() => aws.stop())

const subjects: [string, () => Promise<Subject>][] = [
  [
    'the queue of the relay’s tests',
    async () => {
      const queue = createFakeQueue('q', systemClock)
      queue.refuses = ({ body }) => (body === BAD || body.length > 1_048_576 ? 'refused' : undefined)
      return { ...RULES_OF_SQS, publisher: queue, arrived: async () => queue.delivered.map(({ body }) => body) }
    },
  ],
  [
    'SQS, the strict fake',
    async () => {
      const { client, queueUrl } = createFakeSqs()
      return sqs(client, queueUrl)
    },
  ],
  [
    'SQS, the engine',
    async () => {
      queues += 1
      return sqs(aws.sqs, (await aws.createQueue(`publisher-${queues}`)).url)
    },
  ],
  ...(SQS_ENDPOINT === undefined ? [] : [given(SQS_ENDPOINT)]),
  [
    'EventBridge, the strict fake',
    async () => {
      const { client, delivered } = createFakeEventBridge('bus')
      const publisher = createEventBridgePublisher({ client, busName: 'bus' })
      const arrived = async () => delivered.map(({ detail }) => JSON.stringify(detail))
      return { publisher, arrived, bad: '{"bad":9223372036854775808}', deduplicates: false }
    },
  ],
]

function given(endpoint: string): [string, () => Promise<Subject>] {
  const { client, createQueue } = connectGivenSqs(endpoint)
  return ['SQS_ENDPOINT', async () => sqs(client, await createQueue())]
}

function sqs(client: LocalAws['sqs'], queueUrl: string): Subject {
  const command = new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 })
  const arrived = async () => ((await client.send(command)).Messages ?? []).map(({ Body }) => Body ?? '')
  return { ...RULES_OF_SQS, publisher: createSqsPublisher({ client, queueUrl }), arrived }
}

const message = (n: number, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  deduplicationId: `d${n}`,
  groupId: `shop/g${n}`,
  body: `{"n":${n}}`,
  source: 'shop',
  type: 'note',
  ...more,
})

describe.each(subjects)('a publisher: %s', (_, create) => {
  it('takes ten messages in one request and answers for each in order', async () => {
    const { publisher, arrived } = await create()
    const messages = Array.from({ length: 10 }, (_, n) => message(n))
    expect(await publisher.publish(messages)).toEqual(Array(10).fill({ status: 'accepted' }))
    expect((await arrived()).sort()).toEqual(messages.map(({ body }) => body).sort())
  })

  it('accepts the same deduplication id again, and delivers it once where the destination removes duplicates', async () => {
    const { publisher, arrived, deduplicates } = await create()
    expect(await publisher.publish([message(1)])).toEqual([{ status: 'accepted' }])
    expect(await publisher.publish([message(1)])).toEqual([{ status: 'accepted' }])
    expect(await publisher.publish([message(1, { deduplicationId: 'd1-r1', groupId: 'other' })])).toEqual([
      { status: 'accepted' },
    ])
    expect(await arrived()).toHaveLength(deduplicates ? 2 : 3)
  })

  it(
    'refuses the one message whose content is not allowed, and takes the others',
    proves('refused-for-content'),
    async () => {
      const { publisher, arrived, bad } = await create()
      const outcomes = await publisher.publish([message(1), message(2, { body: bad }), message(3)])
      expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'refused', 'accepted'])
      expect(await arrived()).toHaveLength(2)
    },
  )

  it('refuses a message over the maximum', proves('request-limits'), async () => {
    const { publisher } = await create()
    expect(await publisher.publish([message(1, { body: 'x'.repeat(1_048_577) })])).toMatchObject([
      { status: 'refused' },
    ])
  })

  it('takes as many bytes together as it says, to the byte, in multibyte text', proves('request-limits'), async () => {
    const { publisher } = await create()
    const half = message(1, { body: `{"t":"${'é'.repeat(262_000)}"}` })
    const room = publisher.maxBytes - 2 * publisher.sizeOf(half)
    const messages = [half, message(2, { body: half.body.replace('"}', `${'x'.repeat(room)}"}`) })]
    expect(messages.reduce((sum, one) => sum + publisher.sizeOf(one), 0)).toBe(publisher.maxBytes)
    expect(await publisher.publish(messages)).toEqual([{ status: 'accepted' }, { status: 'accepted' }])
  })

  it(
    'takes every id that the relay makes, and every character that JSON text may hold',
    proves('entry-ids', 'odd-characters'),
    async () => {
      const { publisher, arrived } = await create()
      const body = JSON.stringify({ text: 'tab\t emoji 😀 é € \u2028 nul \u0000' })
      const odd = message(1, { deduplicationId: `${'f'.repeat(64)}-r12`, groupId: `shop/${'#:/!'.repeat(30)}`, body })
      expect(await publisher.publish([odd])).toEqual([{ status: 'accepted' }])
      expect(await arrived()).toEqual([body])
    },
  )
})

describe('the SQS publisher on an engine', () => {
  it('takes a queue that does not exist for an outage', proves('outage-of-permission'), async () => {
    const { url } = await aws.createQueue('there')
    const publisher = createSqsPublisher({ client: aws.sqs, queueUrl: url.replace('there', 'gone') })
    expect(await publisher.publish([message(1), message(2)])).toEqual(
      Array(2).fill({ status: 'failed', reason: 'QueueDoesNotExist' }),
    )
  })

  it(
    'takes a body over the queue’s own lower maximum for content, and sends the others of its request',
    proves('refused-for-content'),
    async () => {
      const { url } = await aws.createQueue('small', { attributes: { MaximumMessageSize: '1024' } })
      const publisher = createSqsPublisher({ client: aws.sqs, queueUrl: url })
      const outcomes = await publisher.publish([message(1), message(2, { body: 'x'.repeat(1025) }), message(3)])
      expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'refused', 'accepted'])
    },
  )

  it('fails at once when its signal has aborted', async () => {
    const { url } = await aws.createQueue('aborted')
    const publisher = createSqsPublisher({ client: aws.sqs, queueUrl: url })
    expect(await publisher.publish([message(1)], AbortSignal.abort())).toMatchObject([{ status: 'failed' }])
  })
})
