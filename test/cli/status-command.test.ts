import { expect, it } from 'vitest'
import { renderStatus } from '../../src/cli/status-command.ts'

const depth = (name: string, unread?: string) => ({
  queueUrl: `https://sqs.eu-west-1.amazonaws.com/1/Shop-OutboxOrders${name}9EE4F307-3C3CEBA79FE0C.fifo`,
  visible: 0,
  inFlight: 0,
  ...(unread === undefined ? {} : { unread }),
})

it('a queue that cannot be read says why, with the permission that is missing, in 80 columns', () => {
  const text = renderStatus(
    {
      at: 1_700_000_000_000,
      pending: { count: 0, capped: false },
      pull: [],
      dead: { count: 0, capped: false },
      sweepers: [],
      consumers: [
        {
          name: 'shop',
          queue: depth('Queue', 'AccessDenied'),
          deadLetters: depth('DeadLetterQueue', 'QueueDoesNotExist'),
        },
      ],
    },
    'outbox',
    80,
  )
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
  const words = text.replaceAll(/\s+/g, ' ')
  expect(words).toMatch(/Queue\S+ cannot be read \(missing permission: sqs:GetQueueAttributes\)/)
  expect(words).toMatch(/DeadLetterQueue\S+ cannot be read \(QueueDoesNotExist\)/)
  expect(words).toMatch(/shop │ \? │ \? │ \? │ \? │/)
})
