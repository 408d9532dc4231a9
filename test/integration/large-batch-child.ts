import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { createRelay } from '../../src/relay/relay.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'

/**
 * A relay in a process of its own, for its memory to be measured: reads a batch from standard input, relays it, and
 * prints what was reported and the most memory that it held, in MB.
 */
const [dynamoEndpoint = '', sqsEndpoint = '', tableName = '', queueUrl = '', region = ''] = process.argv.slice(2)
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
const relay = createRelay({
  client: new DynamoDBClient({ endpoint: dynamoEndpoint, region, credentials }),
  tableName,
  routes: [
    { to: createSqsPublisher({ client: new SQSClient({ endpoint: sqsEndpoint, region, credentials }), queueUrl }) },
  ],
})
const chunks: Buffer[] = []
for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
const event = JSON.parse(Buffer.concat(chunks).toString())
const { batchItemFailures } = await relay(event)
console.log(JSON.stringify({ failures: batchItemFailures.length, megabytes: process.resourceUsage().maxRSS / 1024 }))
process.exit(0)
