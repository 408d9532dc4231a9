import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { createConsumer, createLedger, createSqsQueue, on } from 'dynamodb-outbox/consumer'

const { LEDGER_TABLE = '', QUEUE_URL = '', DEAD_LETTER_QUEUE_URL = '' } = process.env

export const handler = createConsumer({
  name: 'orders',
  ledger: createLedger({ client: new DynamoDBClient(), tableName: LEDGER_TABLE }),
  queue: createSqsQueue({ client: new SQSClient(), queueUrl: QUEUE_URL, deadLetterQueueUrl: DEAD_LETTER_QUEUE_URL }),
  handlers: [on('order.placed', 'print', ({ data }) => console.log('order placed', data))],
})
