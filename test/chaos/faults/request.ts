export type Service = 'dynamo' | 'sqs'

/** One request of a process on its way to an engine. */
export type LayerRequest = {
  /** Counts the requests of the whole run. */
  readonly id: number
  readonly process: string
  readonly role: string
  readonly service: Service
  /** As the service names it: `TransactWriteItems`, `SendMessageBatch`. */
  readonly operation: string
  readonly body: Buffer
}

/** Service and operation by the target header, which both protocols carry; undefined for anything else. */
export function readTarget(target: string | undefined): Pick<LayerRequest, 'service' | 'operation'> | undefined {
  const [prefix, operation] = target?.split('.') ?? []
  if (operation === undefined) return undefined
  if (prefix === 'AmazonSQS') return { service: 'sqs', operation }
  return prefix?.startsWith('DynamoDB') ? { service: 'dynamo', operation } : undefined
}

/** What a process is for: its name without a number at its end. `consumer-a#12` and `consumer-a#13` are one role. */
export function roleOf(process: string): string {
  return process.replace(/[-#]\d+$/, '')
}
