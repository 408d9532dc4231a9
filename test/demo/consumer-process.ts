import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Mailer } from '../../functions/sample/send-confirmation.ts'
import { createShopConsumer } from '../../functions/sample/shop-consumer.ts'
import { createLedger, createSqsQueue } from '../../src/consumer/index.ts'
import { createOutbox } from '../../src/index.ts'
import { connectLocalAws } from '../../src/testing/index.ts'
import { readDemoEnvironment } from './environment.ts'

/**
 * The sample's consumer in a process of its own. Its mail service stands in a table: it sends one mail for one idempotency
 * key and counts how often it was asked. For some orders the process is killed right after the mail has gone out, before
 * the ledger hears of it: the worst moment there is.
 */
const { dynamo, sqs, outboxTable, ledgerTable, clock } = connectLocalAws()
const { shopTable, queueUrl, deadLetterQueueUrl, killAfterMail } = readDemoEnvironment(process.env)
const documentClient = DynamoDBDocumentClient.from(dynamo)

const mailer: Mailer = {
  send: async ({ orderId, idempotencyKey }) => {
    const blocked = await documentClient.send(
      new GetCommand({ TableName: shopTable, Key: { pk: `BLOCKED#${orderId}` } }),
    )
    if (blocked.Item !== undefined) throw new Error('the mail service refuses this address')
    const { Attributes } = await documentClient.send(
      new UpdateCommand({
        TableName: shopTable,
        Key: { pk: `MAIL#${idempotencyKey}` },
        UpdateExpression: 'SET orderId = :order, #at = if_not_exists(#at, :now) ADD asked :one',
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':order': orderId, ':now': clock.now(), ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      }),
    )
    if (Attributes?.['asked'] === 1 && killAfterMail.includes(orderId)) process.kill(process.pid, 'SIGKILL')
  },
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export const handler = createShopConsumer({
  shopTable,
  mailer,
  now: clock.now,
  clock,
  logger: quiet,
  ledger: createLedger({ documentClient, tableName: ledgerTable, clock }),
  queue: createSqsQueue({ client: sqs, queueUrl, deadLetterQueueUrl }),
  outbox: createOutbox({ documentClient, tableName: outboxTable, clock }),
})
