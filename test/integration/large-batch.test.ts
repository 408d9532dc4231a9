import { spawn } from 'node:child_process'
import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RowImage } from '../../src/relay/row-image.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import { orderedRow, relayedRow, unorderedRow } from '../support/outbox-rows.ts'
import { records } from '../support/relay-world.ts'

/** Lambda hands over at most 6 MB; a relay function has 256 MB in all. */
const BATCH_BYTES = 6_000_000

let aws: LocalAws
beforeAll(async () => {
  aws = await startLocalAws()
})
afterAll(() => aws.stop())

async function relayInChild(rows: readonly RowImage[]): Promise<{ failures: number; megabytes: number }> {
  const { url } = await aws.createQueue(`large-${rows.length}`)
  const region = await aws.dynamo.config.region()
  const { dynamoEndpoint, sqsEndpoint } = aws.address
  const given = records(rows).map((record) => ({
    ...record,
    dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: Date.now() / 1000 },
  }))
  const script = new URL('large-batch-child.ts', import.meta.url).pathname
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=160', script, dynamoEndpoint, sqsEndpoint, aws.outboxTable, url, region],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin.end(JSON.stringify({ Records: given }))
  await ended
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '{}')
}

const put = (image: RowImage) =>
  aws.dynamo.send(new PutItemCommand({ TableName: aws.outboxTable, Item: image as Record<string, AttributeValue> }))
const body = (bytes: number, n: number) => JSON.stringify({ n, data: 'é'.repeat(bytes / 2) })

describe('a batch of 6 MB', () => {
  it('is relayed from its images in less than 256 MB', { timeout: 60_000 }, async () => {
    const region = await aws.dynamo.config.region()
    const created = Date.now()
    const rows = Array.from({ length: 15 }, (_, n) =>
      unorderedRow(`k${n}`, { region, created, body: body(BATCH_BYTES / 15 - 1_000, n) }),
    )
    for (const row of rows) await put(row)
    const { failures, megabytes } = await relayInChild(rows)
    expect(failures).toBe(0)
    expect(megabytes).toBeLessThan(256)
  })

  it('is relayed in less than 256 MB though each of its groups holds rows as large below', {
    timeout: 60_000,
  }, async () => {
    const region = await aws.dynamo.config.region()
    const created = Date.now()
    const rows: RowImage[] = []
    for (let group = 0; group < 60; group += 1) {
      const row = (n: number) => orderedRow(`large${group}`, n, { region, created, body: body(95_000, n) })
      for (let n = 1; n <= 6; n += 1) await put(relayedRow(row(n)))
      await put(row(7))
      rows.push(row(7))
    }
    const { failures, megabytes } = await relayInChild(rows)
    expect(failures).toBe(0)
    expect(megabytes).toBeLessThan(256)
  })
})
