export type Service = 'dynamo' | 'sqs'

/** The members of a request or an answer, as JSON. */
export type Json = Readonly<Record<string, unknown>>

/** One request of a process on its way to an engine. */
export type LayerRequest = {
  /** Counts the requests of the whole run. */
  readonly id: number
  /** Counts the requests of this process. */
  readonly n: number
  readonly process: string
  readonly role: string
  readonly service: Service
  /** As the service names it: `TransactWriteItems`, `SendMessageBatch`. */
  readonly operation: string
  /** The operation and, where it says more, what it was for: `BatchExecuteStatement done`. Kill points go by it. */
  readonly label: string
  readonly body: Buffer
  /** The body, parsed once and only if somebody asks. */
  readonly input: () => Json
}

export type RequestHead = {
  readonly id: number
  readonly n: number
  readonly process: string
  readonly target: string | undefined
}

/** Undefined for what is no request to either service. */
export function toRequest({ target, ...head }: RequestHead, body: Buffer): LayerRequest | undefined {
  const asked = readTarget(target)
  if (asked === undefined || head.process === '') return undefined
  let parsed: Json | undefined
  const input = (): Json => {
    parsed ??= JSON.parse(body.toString()) as Json
    return parsed
  }
  return { ...head, ...asked, role: roleOf(head.process), label: labelOf(asked.operation, body), body, input }
}

/** Service and operation by the target header, which both protocols carry. */
function readTarget(target: string | undefined): Pick<LayerRequest, 'service' | 'operation'> | undefined {
  const [prefix, operation] = target?.split('.') ?? []
  if (operation === undefined) return undefined
  if (prefix === 'AmazonSQS') return { service: 'sqs', operation }
  return prefix?.startsWith('DynamoDB') ? { service: 'dynamo', operation } : undefined
}

/** What a process is for: its name without a number at its end. `consumer-a#12` and `consumer-a#13` are one role. */
export function roleOf(process: string): string {
  return process.replace(/[-#]\d+$/, '')
}

const LEDGER_STATUS = /\{"S":"(running|alone|failed|dead|done)"\}/

/** Statements of the ledger go by the first one's new status, updates of the outbox by what they set. */
function labelOf(operation: string, body: Buffer): string {
  if (operation === 'BatchExecuteStatement') {
    const text = body.toString('latin1')
    const status = LEDGER_STATUS.exec(text)?.[1]
    if (text.includes('"Statement":"INSERT')) return `${operation} claim`
    return `${operation} ${status ?? 'mark'}`
  }
  if (operation === 'Query') return body.includes('"IndexName"') ? 'Query index' : operation
  return operation
}
