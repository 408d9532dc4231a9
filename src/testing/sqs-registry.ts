import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { createLocalQueue, type LocalQueue } from './local-queue.ts'
import { LOCAL_ACCOUNT, queueArn } from './records.ts'
import type { WireEntry } from './sqs-rules.ts'

/** The queues of one endpoint, found by name (the last part of a URL) or ARN. */
export type QueueRegistry = {
  readonly create: (name: string, endpoint: string, attributes: Readonly<Record<string, string>>) => LocalQueue
  readonly find: (url: string | undefined) => LocalQueue | undefined
  readonly remove: (url: string) => void
  readonly setOutage: (down: boolean) => void
}

export function createQueueRegistry(clock: Clock): QueueRegistry {
  const queues = new Map<string, LocalQueue>()
  const find = (url: string | undefined): LocalQueue | undefined => queues.get(url?.split(/[/:]/).at(-1) ?? '')
  return {
    find,
    create: (name, endpoint, attributes) => {
      const known = queues.get(name)
      if (known !== undefined) return known
      const url = `${endpoint}/${LOCAL_ACCOUNT}/${name}`
      const queue = createLocalQueue({ name, url, arn: queueArn(name), attributes, clock, findByArn: find })
      queues.set(name, queue)
      return queue
    },
    remove: (url) => {
      const queue = find(url)
      if (queue !== undefined) queues.delete(queue.name)
    },
    setOutage: (down) => {
      for (const queue of queues.values()) queue.setOutage(down)
    },
  }
}

type Acceptance = { readonly messageId: string; readonly sequenceNumber?: string; readonly deduplicationId?: string }

/** Puts an entry that was accepted into its queue. */
export function acceptEntry(queue: LocalQueue, entry: WireEntry, acceptance: Acceptance): void {
  const {
    MessageBody: body,
    MessageAttributes: attributes = {},
    MessageGroupId: groupId,
    DelaySeconds: delaySeconds,
  } = entry
  queue.accept({
    body,
    md5OfBody: md5(body),
    attributes,
    ...acceptance,
    ...(groupId === undefined ? {} : { groupId }),
    ...(delaySeconds === undefined ? {} : { delaySeconds }),
  })
}

export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
