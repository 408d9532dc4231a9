import { between, type Random } from './chance.ts'
import type { RequestRates } from './rates.ts'
import type { LayerRequest } from './request.ts'

/** What befalls one request. Times in ms of the rig's clock. */
export type Fault =
  | { readonly kind: 'none' | 'dropped' | 'answerLost' | 'throttled' | 'partial' | 'staleIndex' | 'staleRead' }
  | { readonly kind: 'late' | 'delayed' | 'inProgress'; readonly ms: number }
  | { readonly kind: 'duplicated'; readonly answer: 'first' | 'second' }
  | { readonly kind: 'serverError'; readonly applied: boolean }

/** Operations that DynamoDB and SQS may answer in part. */
const IN_PART: ReadonlySet<string> = new Set([
  'SendMessageBatch',
  'DeleteMessageBatch',
  'ChangeMessageVisibilityBatch',
  'ReceiveMessage',
  'BatchExecuteStatement',
  'BatchGetItem',
  'Query',
  'TransactWriteItems',
  'TransactGetItems',
  'UpdateItem',
  'PutItem',
  'DeleteItem',
])

const ANY: readonly (keyof RequestRates)[] = [
  'dropped',
  'answerLost',
  'late',
  'delayed',
  'duplicated',
  'throttled',
  'serverError',
]

type Asked = Pick<LayerRequest, 'operation' | 'label' | 'role'>

/**
 * At most one fault for a request, by the rates and the chance of that request alone. Receiving is not repeated or put
 * off: what nobody awaits any more would only hide messages until their visibility ends, and teach nothing else.
 */
export function decideFault(request: Asked, rates: RequestRates, random: Random): Fault {
  let left = random()
  const kind = kindsFor(request).find((candidate) => {
    left -= rates[candidate] * weightOf(candidate, request)
    return left < 0
  })
  switch (kind) {
    case undefined:
      return { kind: 'none' }
    case 'late':
      return { kind, ms: between(random, 500, 8000) }
    case 'delayed':
      return { kind, ms: between(random, 100, 3000) }
    case 'inProgress':
      return { kind, ms: between(random, 500, 6000) }
    case 'duplicated':
      return { kind, answer: random() < 0.5 ? 'first' : 'second' }
    case 'serverError':
      return { kind, applied: random() < 0.5 }
    default:
      return { kind }
  }
}

function kindsFor({ operation, label }: Asked): readonly (keyof RequestRates)[] {
  const kinds = operation === 'ReceiveMessage' ? ANY.filter((kind) => kind !== 'late' && kind !== 'duplicated') : ANY
  return [
    ...kinds,
    ...(IN_PART.has(operation) ? (['partial'] as const) : []),
    ...(operation === 'TransactWriteItems' ? (['inProgress'] as const) : []),
    ...(label === 'Query index' ? (['staleIndex'] as const) : []),
    ...(operation === 'GetItem' || operation === 'BatchGetItem' ? (['staleRead'] as const) : []),
  ]
}

/** What much depends on and comes seldom is struck more often: a send in part, a change of one row, a writer's transaction. */
function weightOf(kind: keyof RequestRates, { operation, role }: Asked): number {
  if (kind === 'partial') return operation === 'SendMessageBatch' ? 4 : operation === 'UpdateItem' ? 3 : 1
  return kind === 'inProgress' && role === 'writer' ? 3 : 1
}
