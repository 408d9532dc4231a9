import { LEDGER_TABLE, OUTBOX_TABLE, type TableDefinition } from '../tables.ts'
import type { Finding, TableFacts } from './deployment.ts'

type Named = { readonly name: string; readonly title: string; readonly facts: TableFacts | undefined }

export function checkOutboxTable(name: string, facts: TableFacts | undefined): readonly Finding[] {
  const table = { name, title: `outbox table ${name}`, facts }
  if (facts === undefined) return [missing(table, 'No event can be written.', 'TransactionalOutbox.table')]
  return [
    ...checkShape(table, facts, OUTBOX_TABLE),
    ...checkStream(table, facts),
    ...checkIndex(table, facts),
    ...(facts.stronglyConsistentReplicas ? [strongReplicas(table)] : []),
  ]
}

export function checkLedgerTable(name: string, facts: TableFacts | undefined): readonly Finding[] {
  const table = { name, title: `ledger table ${name}`, facts }
  if (facts === undefined) return [missing(table, 'The consumer runs nothing.', 'OutboxConsumer.ledgerTable')]
  return checkShape(table, facts, LEDGER_TABLE)
}

function missing({ title, name }: Named, effect: string, property: string): Finding {
  return {
    severity: 'error',
    resource: title,
    wrong: 'is not there',
    effect,
    property,
    command: `aws dynamodb describe-table --table-name ${name}`,
  }
}

function checkShape({ title, name }: Named, facts: TableFacts, definition: TableDefinition): readonly Finding[] {
  const { partitionKey, sortKey, timeToLiveAttribute } = definition
  const keys = [partitionKey, sortKey].map((key) => `${key.name}:${key.type}`)
  const findings: Finding[] = []
  if (facts.keys.join() !== keys.join())
    findings.push({
      severity: 'error',
      resource: title,
      wrong: `has the keys ${facts.keys.join(', ')} instead of ${keys.join(', ')}`,
      effect: 'Nothing can be read or written.',
      property: 'leave out `table`, so that one is created',
      command: 'dynamodb-outbox install, for a new table; keys of a table never change',
    })
  if (facts.timeToLive !== timeToLiveAttribute)
    findings.push({
      severity: 'warning',
      resource: title,
      wrong: facts.timeToLive === undefined ? 'deletes nothing' : `expires rows by \`${facts.timeToLive}\``,
      effect: `Rows are kept for ever: storage grows. They must expire by \`${timeToLiveAttribute}\`.`,
      property: 'timeToLiveAttribute of the table',
      command: `aws dynamodb update-time-to-live --table-name ${name} --time-to-live-specification Enabled=true,AttributeName=${timeToLiveAttribute}`,
      // Another attribute must be turned off first, and an hour must pass: by hand.
      ...(facts.timeToLive === undefined
        ? { fix: { kind: 'time-to-live', table: name, attribute: timeToLiveAttribute } as const }
        : {}),
    })
  return findings
}

const STREAM_EFFECT = 'The relay gets nothing: events are delivered by the sweeper alone, up to 3 minutes late.'

function checkStream({ title, name }: Named, { streamArn, streamView }: TableFacts): readonly Finding[] {
  const images = ['NEW_IMAGE', 'NEW_AND_OLD_IMAGES']
  if (streamArn !== undefined && images.includes(streamView ?? '')) return []
  return [
    {
      severity: 'error',
      resource: title,
      wrong: streamArn === undefined ? 'has no stream' : `has a stream without new images (${streamView})`,
      effect: STREAM_EFFECT,
      property: 'dynamoStream: StreamViewType.NEW_IMAGE of the table',
      // A new stream has an ARN of its own, and a mapping never changes its source.
      command: `aws dynamodb update-table --table-name ${name} --stream-specification StreamEnabled=true,StreamViewType=NEW_IMAGE, then deploy the stack again for a mapping on the new stream`,
    },
  ]
}

function checkIndex({ title, name }: Named, { indexes }: TableFacts): readonly Finding[] {
  const { index } = OUTBOX_TABLE
  if (index === undefined) return []
  const found = indexes.find((one) => one.name === index.name)
  const keys = [index.partitionKey, index.sortKey].map((key) => `${key.name}:${key.type}`)
  const isRight =
    found?.keys.join() === keys.join() &&
    (found.includes.includes('*') || index.include.every((attribute) => found.includes.includes(attribute)))
  if (isRight) return []
  return [
    {
      severity: 'error',
      resource: title,
      wrong:
        found === undefined
          ? `has no index \`${index.name}\``
          : `has an index \`${index.name}\` of another shape: it needs ${keys.join(', ')} and ${index.include.join(', ')}`,
      effect: 'The sweeper finds nothing: what the stream path misses is not delivered, and no age of rows is known.',
      property: 'leave out `table`, so that one is created with its index',
      command: `aws dynamodb update-table --table-name ${name} with a GlobalSecondaryIndexUpdates entry that creates it (a wrong one must be deleted first)`,
    },
  ]
}

function strongReplicas({ title, name }: Named): Finding {
  return {
    severity: 'error',
    resource: title,
    wrong: 'has replicas with strong consistency across Regions',
    effect: 'Such tables have no transactions: no event can be committed with its data.',
    property: 'multiRegionConsistency: MultiRegionConsistency.EVENTUAL of the table',
    command: `aws dynamodb describe-table --table-name ${name}; a table keeps its consistency for life: move to another one`,
  }
}
