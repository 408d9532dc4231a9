import { type PutEventsRequestEntry as Entry, EventBridgeClient } from '@aws-sdk/client-eventbridge'

export type Fault = { readonly code: string; readonly message?: string; readonly status?: number }

/** What a rule hands to its target. */
export type Envelope = {
  readonly version: '0'
  readonly id: string
  readonly 'detail-type': string
  readonly source: string
  readonly account: string
  readonly time: string
  readonly region: string
  readonly resources: readonly string[]
  readonly detail: Record<string, unknown>
}

export type FakeEventBridge = {
  /** A real client whose requests are answered in memory; it does not retry. */
  readonly client: EventBridgeClient
  /** Names of the buses that exist. */
  readonly buses: Set<string>
  /** What a rule that matches everything would deliver, in order of arrival. Only of buses that exist. */
  readonly delivered: readonly Envelope[]
  /** Every request, in order: the action and its entries. */
  readonly requests: readonly { readonly action: string; readonly entries: readonly Entry[] }[]
  /** Refuses requests as a whole, before anything else is looked at. */
  failRequest: (action: string) => Fault | undefined
  /** Refuses single entries that EventBridge's own rules would take. */
  refuseEntry: (entry: Entry) => Fault | undefined
  /** The target of a rule that matches everything. */
  target: (envelope: Envelope) => Promise<unknown>
}

/** "Less than 1 MB" together. */
const MAX_BYTES = 1_048_575
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/**
 * EventBridge in memory, as strict as its documentation: entries, bytes, required fields, JSON it can read. And as treacherous:
 * for a bus that does not exist it answers as if all were well, and drops the event.
 */
export function createFakeEventBridge(...buses: readonly string[]): FakeEventBridge {
  const delivered: Envelope[] = []
  const requests: { action: string; entries: readonly Entry[] }[] = []
  const fake: FakeEventBridge = {
    client: clientOf((action, input) => answer(action, input)),
    buses: new Set(buses),
    delivered,
    requests,
    failRequest: () => undefined,
    refuseEntry: () => undefined,
    target: async () => {},
  }
  const put = async (entry: Entry): Promise<object> => {
    const refused = entryFault(entry) ?? fake.refuseEntry(entry)
    if (refused !== undefined) return { ErrorCode: refused.code, ErrorMessage: refused.message }
    const envelope = envelopeOf(entry, `event-${delivered.length}`)
    if (fake.buses.has(nameOf(entry.EventBusName ?? 'default'))) {
      delivered.push(envelope)
      await fake.target(envelope)
    }
    return { EventId: envelope.id }
  }
  const answer = async (action: string, { Entries = [], Name = '' }: Input): Promise<Fault | object> => {
    requests.push({ action, entries: Entries })
    const failure = fake.failRequest(action)
    if (failure !== undefined) return failure
    if (action === 'DescribeEventBus') {
      const known = fake.buses.has(nameOf(Name))
      return known
        ? { Name: nameOf(Name) }
        : { code: 'ResourceNotFoundException', message: 'Event bus does not exist.' }
    }
    const whole = requestFault(Entries)
    if (whole !== undefined) return whole
    const results = await Promise.all(Entries.map(put))
    return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results }
  }
  return fake
}

function envelopeOf({ Source = '', DetailType = '', Detail = '' }: Entry, id: string): Envelope {
  return {
    version: '0',
    id,
    'detail-type': DetailType,
    source: Source,
    account: '123456789012',
    time: '2026-01-31T12:00:00Z',
    region: 'us-east-1',
    resources: [],
    detail: JSON.parse(Detail) as Record<string, unknown>,
  }
}

type Input = { readonly Entries?: readonly Entry[]; readonly Name?: string }

function requestFault(entries: readonly Entry[]): Fault | undefined {
  if (entries.length < 1 || entries.length > 10) {
    return {
      code: 'ValidationException',
      message: "1 validation error detected: Value at 'entries' failed to satisfy constraint: 1 to 10",
    }
  }
  const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0)
  if (bytes <= MAX_BYTES) return undefined
  return { code: 'ValidationException', message: 'Total size of the entries in the request is over the limit.' }
}

function bytesOf({ Time, Source = '', DetailType = '', Detail = '', Resources = [] }: Entry): number {
  return (Time === undefined ? 0 : 14) + Buffer.byteLength([Source, DetailType, Detail, ...Resources].join(''))
}

function entryFault(entry: Entry): Fault | undefined {
  for (const field of ['Source', 'DetailType', 'Detail'] as const) {
    if (entry[field]) continue
    const message = `Parameter ${field} is not valid. Reason: ${field} is a required argument.`
    return { code: 'InvalidArgument', message }
  }
  if (entry.Source?.startsWith('aws.')) {
    return { code: 'NotAuthorizedForSourceException', message: 'Not authorized for the source.' }
  }
  return isReadable(entry.Detail ?? '') ? undefined : { code: 'MalformedDetail', message: 'Detail is malformed.' }
}

/** A JSON object without integers beyond 64 bits, and at most 1,000 levels deep. */
function isReadable(text: string): boolean {
  const integers = (_: string, value: unknown, { source = '' }: { source?: string } = {}): unknown => {
    const beyond = /^-?\d+$/.test(source) && (BigInt(source) < INT64.min || BigInt(source) > INT64.max)
    if (beyond) throw new Error('beyond 64 bits')
    return value
  }
  try {
    const parsed: unknown = JSON.parse(text, integers as never)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) && depthOf(text) <= 1000
  } catch {
    return false
  }
}

function depthOf(text: string): number {
  let depth = 0
  let most = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{' || token === '[') depth += 1
    if (token === '}' || token === ']') depth -= 1
    most = Math.max(most, depth)
  }
  return most
}

const nameOf = (nameOrArn: string): string => nameOrArn.slice(nameOrArn.lastIndexOf('/') + 1)

/** A real client, so that what the SDK checks and serialises is checked and serialised here too. */
function clientOf(answer: (action: string, input: Input) => Promise<Fault | object>): EventBridgeClient {
  const handle = async (
    { headers, body }: { headers: Record<string, string>; body?: unknown },
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ) => {
    if (abortSignal?.aborted) throw Object.assign(new Error('aborted'), { name: 'AbortError' })
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array)
    const answered = await answer((headers['x-amz-target'] ?? '').replace('AWSEvents.', ''), JSON.parse(text) as Input)
    const failed = 'code' in answered
    const wire = failed ? { __type: answered.code, message: 'message' in answered ? answered.message : '' } : answered
    const statusCode = failed ? ('status' in answered ? answered.status : 400) : 200
    const contentType = { 'content-type': 'application/x-amz-json-1.1' }
    return { response: { statusCode, headers: contentType, body: Buffer.from(JSON.stringify(wire)) } }
  }
  return new EventBridgeClient({
    endpoint: 'http://events.invalid',
    region: 'us-east-1',
    credentials: { accessKeyId: 'fake', secretAccessKey: 'fake' },
    maxAttempts: 1,
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      destroy: () => {},
      updateHttpClientConfig: () => {},
      httpHandlerConfigs: () => ({}),
      handle: handle as never,
    },
  })
}
