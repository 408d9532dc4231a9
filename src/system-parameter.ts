/** Where the constructs write what they have made, one parameter for each construct. */
export const SYSTEMS_PATH = '/dynamodb-outbox/'

/** What an outbox says of itself: the value of `/dynamodb-outbox/<stack>/<path of the construct>`, as JSON. */
export type OutboxParameter = {
  readonly kind: 'outbox'
  readonly outboxTable: string
  readonly relay: string
  readonly sweeper: string
}

/** What a consumer says of itself. Without `outboxTable` its handlers emit nothing, and it belongs to the outboxes of its stack. */
export type ConsumerParameter = ConsumerNames & { readonly kind: 'consumer'; readonly outboxTable?: string }

type ConsumerNames = {
  readonly name: string
  readonly ledgerTable: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
  /** Name of the function that runs its handlers. */
  readonly handler: string
}

/** One outbox with its consumers. */
export type SystemEntry = {
  /** `<stack>/<path of the construct>`: unique in an account and Region. */
  readonly name: string
  readonly outboxTable: string
  readonly relay: string
  readonly sweeper: string
  readonly consumers: readonly ConsumerNames[]
}

type Parameter = { readonly name: string; readonly value: string }

/** Puts parameters together. Never throws: a value that cannot be read is left out. */
export function readSystems(parameters: readonly Parameter[]): readonly SystemEntry[] {
  const read = parameters.flatMap(({ name, value }) => {
    const content = parse(value)
    return content === undefined ? [] : [{ path: name.slice(SYSTEMS_PATH.length), content }]
  })
  const consumers = read.flatMap(({ path, content }) => (content.kind === 'consumer' ? [{ path, content }] : []))
  return read.flatMap(({ path, content }) => {
    if (content.kind !== 'outbox') return []
    const mine = consumers.filter(({ path: other, content: { outboxTable } }) =>
      outboxTable === undefined ? stackOf(other) === stackOf(path) : outboxTable === content.outboxTable,
    )
    const { outboxTable, relay, sweeper } = content
    return [{ name: path, outboxTable, relay, sweeper, consumers: mine.map(({ content: one }) => consumerOf(one)) }]
  })
}

function consumerOf({ name, ledgerTable, queueUrl, deadLetterQueueUrl, handler }: ConsumerParameter): ConsumerNames {
  return { name, ledgerTable, queueUrl, deadLetterQueueUrl, handler }
}

function stackOf(path: string): string {
  return path.split('/', 1)[0] ?? ''
}

const TEXTS = {
  outbox: ['outboxTable', 'relay', 'sweeper'],
  consumer: ['name', 'ledgerTable', 'queueUrl', 'deadLetterQueueUrl', 'handler'],
} as const

function parse(text: string): OutboxParameter | ConsumerParameter | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { kind, ...rest } = (value ?? {}) as Record<string, unknown>
  if (kind !== 'outbox' && kind !== 'consumer') return undefined
  return TEXTS[kind].every((name) => typeof rest[name] === 'string')
    ? (value as OutboxParameter | ConsumerParameter)
    : undefined
}
