import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Mailer } from './send-confirmation.ts'

/**
 * Stands for a mail service: a "mail" is an item of the shop's table under the idempotency key, so that a second one with
 * the same key is not sent. `asked` counts how often it was asked.
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
