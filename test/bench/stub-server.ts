import { createServer } from 'node:http'
import { actionOf, wireAnswer } from '../../src/testing/sqs-wire.ts'
import type { ToStub } from './stub.ts'
import { answerDynamo, dynamoActionOf } from './stub-dynamo.ts'
import { answerSqs } from './stub-sqs.ts'

/**
 * SQS and DynamoDB that answer at once and keep nothing: whatever time and memory the services take is none of what is
 * measured. As strict as they are about the shape of requests, and it counts what it takes. In a process of its own.
 */
let requests: Record<string, number> = {}
let items: Record<string, number> = {}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString())
  const sqs = actionOf(request.headers)
  const action = sqs ?? dynamoActionOf(request.headers) ?? 'unknown'
  const answer = sqs === undefined ? answerDynamo(action, body) : answerSqs(action, body)
  requests[action] = (requests[action] ?? 0) + 1
  items[action] = (items[action] ?? 0) + answer.items
  const wire = 'fault' in answer ? wireAnswer({ fault: answer.fault }) : wireAnswer({ body: answer.body })
  const text = JSON.stringify(wire.body)
  response.writeHead(wire.status, { ...wire.headers, 'content-length': Buffer.byteLength(text) })
  response.end(text)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 })
})
process.on('message', (message: ToStub) => {
  if (message !== 'counts') return
  process.send?.({ requests, items })
  requests = {}
  items = {}
})
process.on('disconnect', () => process.exit(0))
