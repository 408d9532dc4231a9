import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Process } from '../process.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Wire } from '../wire.ts'
import { abortable } from './abortable.ts'
import { type Engine, tableFinder } from './engine.ts'
import { createReads } from './reads.ts'
import { createScans } from './scans.ts'
import { createTable, keyOf, type Table } from './table.ts'
import { createTransactions } from './transactions.ts'
import type { Item } from './values.ts'
import { createWrites } from './writes.ts'

export type ModelDynamo = {
  readonly table: (name: string) => Table
  /** A client for one process: everything it sends goes over the wire. */
  readonly clientFor: (process: Process) => DynamoDBClient
  /** Carries a command out here and now. */
  readonly execute: (op: string, input: unknown, partial?: (part: number) => number) => Promise<object>
}

export type ModelDynamoOptions = {
  readonly scheduler: Pick<Scheduler, 'now' | 'in'>
  readonly luck: Engine['luck']
  readonly wire: Wire
  readonly tables: readonly string[]
  readonly region: string
  /** Told which rows a process was shown, by a read that it began then. */
  readonly onRead: (process: Process, keys: readonly string[], begun: number) => void
  /** Told of a process that found, or may find, a row which a read did not show. */
  readonly onLook?: (process: Process) => void
  /** Told of a statement whose condition did not hold. */
  readonly onRefused: (process: Process, table: string, item: Item | undefined) => void
  /** A line for the story; undefined: none. */
  readonly describe: (op: string, input: unknown) => (() => string) | undefined
}

type Command = { readonly constructor: { readonly name: string }; readonly input: unknown }

/**
 * DynamoDB in memory, as its own commands: every condition, update and statement that the code sends is read and evaluated,
 * so that whoever changes one changes what happens. Held to the contract suites of the engines.
 */
export function createModelDynamo(options: ModelDynamoOptions): ModelDynamo {
  const { scheduler, luck, wire, describe, region, onRead, onLook, onRefused } = options
  const { now } = scheduler
  /** Whose request is carried out: all that it changes, it changes at once. */
  let author: Process | undefined
  const tables = new Map(options.tables.map((name) => [name, createTable(name, now, () => author)]))
  const tableOf = tableFinder(tables)
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void scheduler.in(ms, resolve))
  const refused: Engine['onRefused'] = (table, item) => {
    if (author !== undefined) onRefused(author, table, item)
  }
  const engine: Engine = { now, luck, tableOf, wait, onRefused: refused }
  const reads = createReads(engine)
  const scans = createScans(engine)
  const writes = createWrites(engine)
  const transactions = createTransactions(engine)
  const commands: Readonly<Record<string, (input: never, partial?: (part: number) => number) => object>> = {
    GetItem: reads.get,
    BatchGetItem: reads.batchGet,
    Query: reads.query,
    Scan: scans.scan,
    DescribeTable: scans.describe,
    TransactGetItems: transactions.get,
    TransactWriteItems: transactions.write,
    UpdateItem: writes.update,
    BatchExecuteStatement: writes.statements,
  }
  const execute: ModelDynamo['execute'] = async (op, input, partial) => {
    const command = commands[op]
    if (command === undefined) throw new Error(`The model of DynamoDB does not know ${op}`)
    return command(input as never, partial)
  }
  const isIdle = (op: string, input: unknown): boolean => {
    const { IndexName, TableName = '' } = input as { IndexName?: string; TableName?: string }
    return op === 'Query' && IndexName !== undefined && !hasEntries(tableOf(TableName), input)
  }
  return {
    table: tableOf,
    execute,
    clientFor: (process) => {
      const send = (command: Command, options?: { readonly abortSignal?: AbortSignal }): Promise<object> => {
        const op = command.constructor.name.replace(/Command$/, '')
        const { input } = command
        // 64 shards a sweep, nearly all empty: their reads are no place where anything can go wrong in a new way.
        if (isIdle(op, input)) return Promise.resolve({ Items: [], Count: 0 })
        const apply = (partial?: (part: number) => number): Promise<object> => {
          author = process
          const answer = execute(op, input, partial)
          author = undefined
          return answer
        }
        const request = { service: 'dynamo', target: 'dynamo', op, about: describe(op, input), apply } as const
        const begun = now()
        const answer = abortable(() => wire.call(process, request), options)
        if (op === 'TransactGetItems')
          return answer.then(
            (shown) => {
              if (isFound(shown)) onLook?.(process)
              return shown
            },
            (error) => {
              onLook?.(process)
              throw error
            },
          )
        if (op !== 'Query' && op !== 'BatchGetItem') return answer
        return answer.then((shown) => {
          onRead(process, keysIn(shown), begun)
          return shown
        })
      }
      return { send, config: { region: async () => region, serviceId: 'DynamoDB' } } as unknown as DynamoDBClient
    },
  }
}

/** Whether the first row asked for is there. */
function isFound(shown: object): boolean {
  const { Responses = [] } = shown as { Responses?: readonly { Item?: Item }[] }
  return Responses[0]?.Item !== undefined
}

function keysIn(shown: object): string[] {
  const { Items, Responses } = shown as {
    Items?: readonly Item[]
    Responses?: Readonly<Record<string, readonly Item[]>>
  }
  return [...(Items ?? []), ...Object.values(Responses ?? {}).flat()]
    .filter(({ body }) => body !== undefined)
    .map(keyOf)
}

function hasEntries({ slots }: Table, input: unknown): boolean {
  const shard = (input as { ExpressionAttributeValues: { ':shard'?: { S?: string } } }).ExpressionAttributeValues[
    ':shard'
  ]?.S
  for (const { item, before } of slots.values()) if (item?.shard?.S === shard || before?.shard?.S === shard) return true
  return false
}
