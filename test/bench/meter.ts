import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** What a client sent and consumed since the last reset. */
export type Usage = {
  readonly requests: number
  readonly readUnits: number
  readonly writeUnits: number
  /** Writes that were refused by their condition; they are charged for. */
  readonly refused: number
}

export type Meter = { readonly read: () => Usage; readonly reset: () => void }

const READS: ReadonlySet<string> = new Set([
  'QueryCommand',
  'GetItemCommand',
  'BatchGetItemCommand',
  'TransactGetItemsCommand',
])
const REFUSALS: ReadonlySet<string | undefined> = new Set(['ConditionalCheckFailed', 'DuplicateItem'])
const NOTHING: Usage = { requests: 0, readUnits: 0, writeUnits: 0, refused: 0 }

type Consumed = { readonly CapacityUnits?: number }
type Output = {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[]
  readonly Responses?: readonly { readonly Error?: { readonly Code?: string } }[]
  readonly $metadata?: { readonly attempts?: number }
}

/**
 * Counts the requests of a client, retries included, and asks with each what it consumed. A refused statement counts as
 * one write unit, as DynamoDB charges it for a row of up to 1 KB.
 */
export function meterDynamo(client: DynamoDBClient): Meter {
  let usage = NOTHING
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = (context as { commandName?: string }).commandName ?? ''
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' }
      const result = await next({ ...args, input } as typeof args)
      usage = add(usage, name, result.output as Output)
      return result
    },
    { step: 'initialize', name: 'meterDynamo' },
  )
  return {
    read: () => usage,
    reset: () => {
      usage = NOTHING
    },
  }
}

function add(usage: Usage, command: string, { ConsumedCapacity, Responses, $metadata }: Output): Usage {
  const consumed = [ConsumedCapacity ?? []].flat()
  const refused = Array.isArray(Responses)
    ? Responses.filter(({ Error: error }) => REFUSALS.has(error?.Code)).length
    : 0
  // The engine counts a refused statement as well, unless all of the request's were refused: then it says nothing at all.
  const left = consumed.length === 0 ? refused : 0
  const units = consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, left)
  const isRead = READS.has(command)
  return {
    requests: usage.requests + ($metadata?.attempts ?? 1),
    readUnits: usage.readUnits + (isRead ? units : 0),
    writeUnits: usage.writeUnits + (isRead ? 0 : units),
    refused: usage.refused + refused,
  }
}
