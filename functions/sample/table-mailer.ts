import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { permanentError } from '../../src/consumer/index.ts'
import type { Mailer } from './send-confirmation.ts'

/**
 * Stands for a mail service: a "mail" is an item of the shop's table under the idempotency key, so that a second one with
 * the same key is not sent. `asked` counts how often it was asked. While an item `BLOCKED#<order id>` stands in the table,
 * the service refuses that order's mail for good: no retry helps, so the event goes to the dead-letter queue at once.
 */
export function createTableMailer({
  documentClient,
  shopTable,
  now,
}: {
  readonly documentClient: DynamoDBDocumentClient
  readonly shopTable: string
  readonly now: () => number
}): Mailer {
  return {
    send: async ({ orderId, idempotencyKey }) => {
      const { Item: blocked } = await documentClient.send(
        new GetCommand({ TableName: shopTable, Key: { pk: `BLOCKED#${orderId}` }, ConsistentRead: true }),
      )
      if (blocked !== undefined) throw permanentError('the mail service refuses this address')
      await documentClient.send(
        new UpdateCommand({
          TableName: shopTable,
          Key: { pk: `MAIL#${idempotencyKey}` },
          UpdateExpression: 'SET orderId = :order, #at = if_not_exists(#at, :now) ADD asked :one',
          ExpressionAttributeNames: { '#at': 'at' },
          ExpressionAttributeValues: { ':order': orderId, ':now': now(), ':one': 1 },
        }),
      )
    },
  }
}
