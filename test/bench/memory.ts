import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { StreamImage } from '../../src/testing/lambda-events.ts'
import { orderedRow, relayedRow, unorderedRow } from '../support/outbox-rows.ts'
import { createClients, REGION } from './clients.ts'
import { putItems } from './event-rows.ts'
import type { Figure } from './figure.ts'
import type { Item } from './filled-engine.ts'
import type { Part } from './part.ts'
import { batchOf } from './relay-batches.ts'
import { startSmallEngine } from './small-engine.ts'
import { type Stub, startStub, TABLE } from './stub.ts'

/** Lambda hands over at most 6 MB. */
const BATCH_BYTES = 6_000_000
const GROUPS = 60
const CHILD = join(import.meta.dirname, '../integration/large-batch-child.ts')

/** The most memory that a relay holds for the largest batch there can be, in a process of its own. */
export const measureMemory: Part = async (say) => {
  const stub = await startStub()
  try {
    say('a batch of 6 MB, unordered')
    const unordered = await peakMegabytes(stub, stub.endpoint, unorderedImages())
    say(`a batch of 6 MB, of ${GROUPS} groups with rows as large before them`)
    const grouped = await measureGroups(stub)
    return [peakFigure(Math.max(unordered, grouped))]
  } finally {
    await stub.stop()
  }
}

function peakFigure(value: number): Figure {
  const label = 'relay: peak memory (RSS) for a batch of 6 MB, MB, of 256'
  return { key: 'rssRelay6MbBatchMb', label, value, bound: { atMost: 256 } }
}

const body = (bytes: number, n: number): string => JSON.stringify({ n, data: 'é'.repeat(bytes / 2) })

function unorderedImages(): StreamImage[] {
  return Array.from({ length: 15 }, (_, n) => {
    return unorderedRow(`k${n}`, { region: REGION, body: body(BATCH_BYTES / 15 - 1_000, n) }) as StreamImage
  })
}

async function measureGroups(stub: Stub): Promise<number> {
  const engine = await startSmallEngine({ [TABLE]: ['pk', 'sk'] })
  try {
    const { dynamo } = createClients('peer', { dynamo: engine.endpoint, sqs: stub.endpoint })
    const images: StreamImage[] = []
    for (let group = 0; group < GROUPS; group += 1) {
      const row = (n: number) => orderedRow(`large${group}`, n, { region: REGION, body: body(95_000, n) })
      const newest = row(7)
      await putItems(dynamo, TABLE, [...[1, 2, 3, 4, 5, 6].map((n) => relayedRow(row(n))), newest] as Item[])
      images.push(newest as StreamImage)
    }
    return await peakMegabytes(stub, engine.endpoint, images)
  } finally {
    await engine.stop()
  }
}

async function peakMegabytes(stub: Stub, dynamoEndpoint: string, images: readonly StreamImage[]): Promise<number> {
  const endpoints = [dynamoEndpoint, stub.endpoint, TABLE, stub.queueUrl, REGION]
  const child = spawn(process.execPath, ['--max-old-space-size=160', CHILD, ...endpoints], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify({ Records: batchOf(images) }))
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const { failures, megabytes } = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Record<string, number>
  const { items } = await stub.counts()
  if (failures !== 0 || megabytes === undefined || items['SendMessageBatch'] !== images.length)
    throw new Error('the batch was not relayed whole')
  return megabytes
}
