import type { EngineAnswer } from './forward.ts'
import type { LayerRequest, Service } from './request.ts'

/** Answers in the words and forms of the services themselves, so that the SDK tells them apart as it would in production. */

const CONTENT_TYPE = 'application/x-amz-json-1.0'

export function jsonAnswer(body: object, status = 200): EngineAnswer {
  return { status, headers: { 'content-type': CONTENT_TYPE }, body: Buffer.from(JSON.stringify(body)) }
}

type ErrorForm = { readonly name: string; readonly status?: number; readonly more?: object; readonly message?: string }

function dynamoError({ name, status = 400, more = {}, message = 'An injected fault.' }: ErrorForm): EngineAnswer {
  const space = AVAILABILITY.has(name) ? 'com.amazon.coral.availability' : 'com.amazonaws.dynamodb.v20120810'
  return jsonAnswer({ __type: `${space}#${name}`, message, ...more }, status)
}

const AVAILABILITY = new Set(['ThrottlingException', 'ServiceUnavailable'])

function sqsError({ name, status = 400, message = 'An injected fault.' }: ErrorForm): EngineAnswer {
  const answer = jsonAnswer({ __type: `com.amazonaws.sqs#${name}`, message }, status)
  const party = status < 500 ? 'Sender' : 'Receiver'
  return { ...answer, headers: { ...answer.headers, 'x-amzn-query-error': `${name};${party}` } }
}

function serviceError(service: Service, form: ErrorForm): EngineAnswer {
  return service === 'dynamo' ? dynamoError(form) : sqsError(form)
}

/** Not applied. Tables throw the first two; an account over its quota the third; SQS its own. */
export function throttled({ service }: LayerRequest, chance: number): EngineAnswer {
  const names = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded']
  const name =
    service === 'sqs' ? 'RequestThrottled' : (names[Math.floor(chance * names.length)] ?? 'ThrottlingException')
  return serviceError(service, { name })
}

/** 500: it may have been applied. 503: the same, for all that a client knows. */
export function serverError({ service }: LayerRequest, chance: number): EngineAnswer {
  if (chance < 0.5) return serviceError(service, { name: 'ServiceUnavailable', status: 503 })
  return serviceError(service, { name: service === 'sqs' ? 'InternalError' : 'InternalServerError', status: 500 })
}

/** A policy was changed, a key disabled, a role's trust removed: not applied. */
export function denied({ service, operation }: LayerRequest): EngineAnswer {
  const message = `User is not authorized to perform: ${service === 'sqs' ? 'sqs' : 'dynamodb'}:${operation}`
  return serviceError(service, { name: 'AccessDeniedException', message })
}

/** A single write that meets a transaction in progress on its item. Not applied. */
export function transactionConflict(): EngineAnswer {
  return dynamoError({
    name: 'TransactionConflictException',
    message: 'Transaction is ongoing for the item',
  })
}

/** The same token as a transaction that is still being completed. */
export function transactionInProgress(): EngineAnswer {
  return dynamoError({
    name: 'TransactionInProgressException',
    message: 'Transaction with the client token is already in progress',
  })
}

/** A transaction refused as a whole, for these codes of its actions in order (`None`: nothing against it). Not applied. */
export function transactionCanceled(codes: readonly string[]): EngineAnswer {
  return dynamoError({
    name: 'TransactionCanceledException',
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    more: {
      CancellationReasons: codes.map((Code) => (Code === 'None' ? { Code } : { Code, Message: 'An injected fault.' })),
    },
  })
}
