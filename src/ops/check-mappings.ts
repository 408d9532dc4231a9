import type { Deployment, Finding, MappingChange, MappingFacts, TableFacts } from './deployment.ts'
import { mappingFinding } from './mapping-finding.ts'

/** As deployed by the constructs. */
const RETRIES = 10
const MAX_AGE_SECONDS = 82_800
const DAY_SECONDS = 86_400

/** The mapping between the outbox table's stream and the relay. */
export function checkRelayMapping({ outboxTable, relayMappings, region, names }: Deployment): readonly Finding[] {
  const stream = outboxTable?.streamArn
  // Without a stream there is nothing to map; that is a finding of the table.
  if (stream === undefined) return []
  const current = relayMappings.find(({ sourceArn }) => sourceArn === stream)
  if (current === undefined) return [noStreamMapping(names.relay, outboxTable, relayMappings)]
  const resource = `mapping of the relay (${current.id})`
  return [
    ...checkEnabled(resource, current, 'Events are delivered by the sweeper alone, up to 3 minutes late.'),
    ...checkPartial(resource, current, 'One record that cannot be relayed repeats its whole batch.'),
    ...checkStart(resource, current),
    ...checkBounds(resource, current),
    ...checkFilter(resource, current, region),
  ]
}

/** The mapping between a consumer's queue and its function. */
export function checkQueueMapping(
  consumer: string,
  queueArn: string | undefined,
  mappings: readonly MappingFacts[],
): readonly Finding[] {
  if (queueArn === undefined) return []
  const current = mappings.find(({ sourceArn }) => sourceArn === queueArn)
  if (current === undefined)
    return [
      {
        severity: 'error',
        resource: `mapping of consumer ${consumer}`,
        wrong: 'is not there',
        effect: 'Nothing is handled: messages wait in the queue until they are too old.',
        property: 'OutboxConsumer.handler',
        command: 'deploy the stack again',
      },
    ]
  const resource = `mapping of consumer ${consumer} (${current.id})`
  return [
    ...checkEnabled(resource, current, 'Nothing is handled: messages wait in the queue until they are too old.'),
    ...checkPartial(
      resource,
      current,
      'One failure repeats its whole batch, and events are handled out of their turn.',
    ),
  ]
}

function noStreamMapping(relay: string, table: TableFacts | undefined, mappings: readonly MappingFacts[]): Finding {
  const [other] = mappings
  return {
    severity: 'error',
    resource: 'mapping of the relay',
    wrong:
      other === undefined
        ? 'is not there'
        : `reads another stream (${other.sourceArn.split('/').at(-1)}) than the table has now`,
    effect: 'Events are delivered by the sweeper alone, up to 3 minutes late.',
    property: 'TransactionalOutbox.table',
    command: `aws lambda create-event-source-mapping --function-name ${relay} --event-source-arn ${table?.streamArn ?? '<stream>'} --starting-position TRIM_HORIZON; or deploy the stack again`,
  }
}

function checkEnabled(resource: string, { id, state }: MappingFacts, effect: string): readonly Finding[] {
  if (['Enabled', 'Enabling', 'Creating', 'Updating'].includes(state)) return []
  return [
    mappingFinding({
      resource,
      id,
      effect,
      wrong: `is ${state.toLowerCase()}`,
      property: 'enabled',
      change: { Enabled: true },
    }),
  ]
}

function checkPartial(resource: string, { id, reportsFailures }: MappingFacts, effect: string): readonly Finding[] {
  if (reportsFailures) return []
  const change: MappingChange = { FunctionResponseTypes: ['ReportBatchItemFailures'] }
  return [
    mappingFinding({
      resource,
      id,
      effect,
      wrong: 'takes no partial responses',
      property: 'reportBatchItemFailures',
      change,
    }),
  ]
}

function checkStart(resource: string, { id, startingPosition }: MappingFacts): readonly Finding[] {
  if (startingPosition === 'TRIM_HORIZON') return []
  return [
    {
      severity: 'warning',
      resource,
      wrong: `starts at ${startingPosition}`,
      effect: 'What is written while a mapping is made is delivered by the sweeper, up to 3 minutes late.',
      property: 'startingPosition',
      command: `a mapping keeps its start for life: aws lambda delete-event-source-mapping --uuid ${id}, then deploy the stack again`,
    },
  ]
}

function checkBounds(resource: string, { id, retries, maxAgeSeconds, bisects }: MappingFacts): readonly Finding[] {
  const effect =
    'A batch that fails holds its shard up: newer events are delivered by the sweeper, up to 3 minutes late.'
  const found: Finding[] = []
  if (retries === undefined || retries < 0 || retries > 100)
    found.push(
      mappingFinding({
        resource,
        id,
        effect,
        wrong: 'repeats a failing batch without end',
        property: 'retryAttempts',
        change: { MaximumRetryAttempts: RETRIES },
      }),
    )
  if (maxAgeSeconds === undefined || maxAgeSeconds < 0 || maxAgeSeconds >= DAY_SECONDS)
    found.push(
      mappingFinding({
        resource,
        id,
        effect: 'What the stream drops after 24 hours is dropped uncounted.',
        wrong: 'has no age limit under 24 hours',
        property: 'maxRecordAge',
        change: { MaximumRecordAgeInSeconds: MAX_AGE_SECONDS },
      }),
    )
  if (!bisects)
    found.push(
      mappingFinding({
        resource,
        id,
        effect,
        wrong: 'does not halve a failing batch',
        property: 'bisectBatchOnError',
        change: { BisectBatchOnFunctionError: true },
      }),
    )
  return found
}

function checkFilter(resource: string, { id, filters }: MappingFacts, region: string): readonly Finding[] {
  if (filters.length > 0 && filters.every((filter) => isRightFilter(filter, region))) return []
  const change: MappingChange = { FilterCriteria: { Filters: [{ Pattern: JSON.stringify(relayFilter(region)) }] } }
  const wrong = filters.length === 0 ? 'has no filter' : 'has another filter than new pending rows of this Region'
  const effect = 'The relay is invoked for rows that are not its own, or not for those that are.'
  return [mappingFinding({ resource, id, effect, wrong, property: 'filters', change })]
}

/** New pending rows of the Region. */
export function relayFilter(region: string): object {
  return {
    eventName: ['INSERT'],
    dynamodb: { NewImage: { shard: { S: [{ prefix: 'p#' }] }, region: { S: [region] } } },
  }
}

/** More Regions are an operator's: those that were taken over. */
function isRightFilter(text: string, region: string): boolean {
  try {
    const { eventName, dynamodb } = JSON.parse(text) as {
      readonly eventName?: unknown
      readonly dynamodb?: {
        readonly NewImage?: { readonly shard?: unknown; readonly region?: { readonly S?: unknown } }
      }
    }
    const regions = dynamodb?.NewImage?.region?.S
    return (
      JSON.stringify(eventName) === '["INSERT"]' &&
      JSON.stringify(dynamodb?.NewImage?.shard) === '{"S":[{"prefix":"p#"}]}' &&
      Array.isArray(regions) &&
      regions.includes(region)
    )
  } catch {
    return false
  }
}
