import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { type Clock, systemClock } from '../clock.ts'
import { errorName, OutboxError } from '../errors.ts'
import { checkClient, checkOptions, invalidSetting } from '../settings.ts'
import { LEDGER_TABLE, OUTBOX_TABLE, type TableDefinition } from '../tables.ts'
import { createTableInput, tableDifference } from './table-input.ts'

export type CreateTablesOptions = {
  readonly client: DynamoDBClient
  /** Name of the outbox table; left out: none is created. */
  readonly outboxTable?: string
  /** Name of the ledger table; left out: none is created. */
  readonly ledgerTable?: string
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** Polls of a table that is being created, 100 ms to 1 s apart: about two minutes. */
const MAX_POLLS = 120

/**
 * Creates the tables that do not exist, with index, stream and expiry, and waits until they can be used. Safe to run
 * twice, and at once by several processes: the loser of a race waits for what the winner creates. Nothing calls it on
 * its own: in production the tables belong to your deployment.
 *
 * Throws `INVALID_SETTING` for an existing table of another shape (it changes nothing of it), `UNAVAILABLE` if a table
 * is not ready in time, and errors of the AWS SDK as they are.
 */
export async function createTables(options: CreateTablesOptions): Promise<void> {
  checkOptions('createTables', options, ['client', 'outboxTable', 'ledgerTable', 'clock'])
  const { client, outboxTable, ledgerTable, clock = systemClock } = options
  checkClient('client', client, 'DynamoDB')
  if (outboxTable !== undefined && outboxTable === ledgerTable) {
    throw invalidSetting('outboxTable, ledgerTable', 'must be two tables')
  }
  await Promise.all([
    outboxTable === undefined ? undefined : createTable({ client, clock, name: outboxTable, definition: OUTBOX_TABLE }),
    ledgerTable === undefined ? undefined : createTable({ client, clock, name: ledgerTable, definition: LEDGER_TABLE }),
  ])
}

type TableTask = {
  readonly client: DynamoDBClient
  readonly clock: Clock
  readonly name: string
  readonly definition: TableDefinition
}

async function createTable(task: TableTask): Promise<void> {
  const { client, name, definition } = task
  try {
    await client.send(new CreateTableCommand(createTableInput(name, definition)))
  } catch (error) {
    // It exists, or another process is creating it.
    if (errorName(error) !== 'ResourceInUseException') throw error
  }
  const difference = tableDifference(await untilActive(task), definition)
  if (difference !== undefined) {
    throw invalidSetting(
      'table',
      `exists without ${difference}; it was not changed. Give it that, or give another name`,
    )
  }
  await enableExpiry(task)
}

async function untilActive(task: TableTask): Promise<TableDescription> {
  return poll(task, async ({ client, name }) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
    return Table?.TableStatus === 'ACTIVE' || Table?.TableStatus === 'UPDATING' ? Table : undefined
  })
}

/**
 * process A: describe → DISABLED, update → done
 * process B: describe → DISABLED, update → ValidationException; describe again → ENABLING: done
 */
async function enableExpiry(task: TableTask): Promise<void> {
  const { timeToLiveAttribute: attribute } = task.definition
  await poll(task, async ({ client, name: TableName }) => {
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
    const { TimeToLiveStatus: status, AttributeName: actual } = TimeToLiveDescription ?? {}
    if (status === 'ENABLED' || status === 'ENABLING') {
      if (actual === attribute) return true
      throw invalidSetting('table', `expires its items by another attribute than ${attribute}; it was not changed`)
    }
    const TimeToLiveSpecification = { Enabled: true, AttributeName: attribute }
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
    return true
  })
}

/** Asks until there is an answer, 100 ms doubling to 1 s apart. What another process is doing to the table may pass. */
async function poll<Answer>(task: TableTask, ask: (task: TableTask) => Promise<Answer | undefined>): Promise<Answer> {
  let cause: unknown
  for (let tries = 0; tries < MAX_POLLS; tries++) {
    if (tries > 0) await task.clock.sleep(Math.min(1000, 100 * 2 ** (tries - 1)))
    try {
      const answer = await ask(task)
      if (answer !== undefined) return answer
    } catch (error) {
      if (!mayPass(error) || tries >= MAX_PASSING_ERRORS) throw error
      cause = error
    }
  }
  throw new OutboxError(
    'UNAVAILABLE',
    'A table was not ready within two minutes. Look at its status, then call again.',
    { cause },
  )
}

/** In a row of 100 ms to 1 s, so that a lasting error is reported within about 5 s. */
const MAX_PASSING_ERRORS = 8

/** A table just created may not be seen yet, and an update races with another process's. */
function mayPass(error: unknown): boolean {
  const name = errorName(error)
  return (
    name === 'ResourceNotFoundException' ||
    name === 'ResourceInUseException' ||
    name === 'ValidationException' ||
    name === 'LimitExceededException'
  )
}
