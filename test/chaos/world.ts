import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { type LocalAws, startLocalAws } from '../../src/testing/index.ts'
import type { LocalQueueInfo } from '../../src/testing/local-queue-info.ts'
import { QUEUES, type QueueName, SIDE_MAX_BYTES, VISIBILITY_SECONDS } from './topology.ts'

export const EFFECTS_TABLE = 'effects'

export type RigQueue = LocalQueueInfo & { readonly deadLetterUrl: string }

/** The engines, with tables and queues. */
export type World = {
  readonly aws: LocalAws
  readonly queues: Readonly<Record<QueueName, RigQueue>>
  /** Lets the side queue take messages of any length. */
  readonly mendSideQueue: () => void
  /** Messages in each queue and dead-letter queue. */
  readonly left: () => Record<string, number>
  /** All of them together. */
  readonly underWay: () => number
}

export async function openWorld(speed: number): Promise<World> {
  const aws = await startLocalAws({ speed, onFunctionError: () => {} })
  const open = async (name: QueueName): Promise<RigQueue> => {
    const queue = await aws.createQueue(name, {
      deadLetter: true,
      fifo: name !== 'plain',
      visibilityTimeoutSeconds: VISIBILITY_SECONDS,
    })
    return { ...queue, deadLetterUrl: queue.deadLetterUrl ?? '' }
  }
  const queues = { main: await open('main'), side: await open('side'), plain: await open('plain') }
  const limitSide = (bytes: number): void =>
    aws.queue(queues.side.url).setAttributes({ MaximumMessageSize: String(bytes) })
  limitSide(SIDE_MAX_BYTES)
  await aws.dynamo.send(
    new CreateTableCommand({
      TableName: EFFECTS_TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  )
  const count = (url: string): number => {
    const { visible, invisible, delayed } = aws.queue(url).depth()
    return visible + invisible + delayed
  }
  const left = (): Record<string, number> =>
    Object.fromEntries(
      QUEUES.flatMap((name) => [
        [name, count(queues[name].url)],
        [`${name}-dead`, count(queues[name].deadLetterUrl)],
      ]),
    )
  return {
    aws,
    queues,
    mendSideQueue: () => limitSide(1_048_576),
    left,
    underWay: () => Object.values(left()).reduce((sum, messages) => sum + messages, 0),
  }
}
