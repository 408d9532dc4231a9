import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Clock, systemClock } from '../clock.ts'
import type { ClientChoice } from '../outbox/client-write.ts'
import { createCommitter } from '../outbox/create-outbox.ts'
import type { OwnAction } from '../outbox/own-action.ts'
import { checkOptions, inRange, invalidSetting, type Range } from '../settings.ts'
import { createClaims } from './claims.ts'
import { createDynamoStore } from './dynamo-store.ts'
import type { Claim, Ledger } from './ledger.ts'

export type LedgerOptions = ClientChoice & {
  readonly tableName: string
  readonly clock?: Clock
  /**
   * How long a row is kept after its last claim. 1–3650 days, default 30: at least as long as a message can stay in the
   * queue and then in its dead-letter queue.
   */
  readonly keepDays?: number
}

const KEEP_DAYS: Range = { min: 1, max: 3650, default: 30, unit: 'days' }
const TABLE_NAME = /^[A-Za-z0-9_.-]{3,255}$/

/**
 * The ledger in a DynamoDB table. Which kind of client it has decides the form of the items that `ctx.commit` takes; its
 * own rows are written the same through either. In the account and Region of the consumer's own tables.
 */
export function createLedger(options: LedgerOptions): Ledger {
  checkOptions('createLedger', options, ['client', 'documentClient', 'tableName', 'clock', 'keepDays'])
  const { tableName, clock = systemClock, keepDays, ...choice } = options
  if (typeof tableName !== 'string' || !TABLE_NAME.test(tableName))
    throw invalidSetting('tableName', 'must be 3–255 letters, digits, "_", "-" and "."')
  const keepSeconds = inRange('keepDays', keepDays, KEEP_DAYS) * 86_400
  const committer = createCommitter({ ...choice, clock })
  // A document client sends the plain client's commands too, as they are.
  const client = (choice.client ?? choice.documentClient) as DynamoDBClient
  const store = createDynamoStore({ client, tableName, clock })
  return {
    kind: committer.kind,
    ...createClaims({ store, clock, keepSeconds }),
    completion: (claim) => completionAction(tableName, claim),
    committer,
  }
}

/**
 * The same condition as every other write of a claim's owner, so that a stale worker's transaction writes nothing at all:
 *
 *     A: claims t1 ── paused ──────────────────────────── items + done where t1 ──▶ refused as a whole
 *     B:                  lease over ── claims t2 ── items + done where t2 ──▶ applied
 */
export function completionAction(tableName: string, { id, name, token, status }: Claim): OwnAction {
  return {
    Update: {
      TableName: tableName,
      Key: { pk: id, sk: name },
      UpdateExpression: 'SET #status = :done',
      ConditionExpression: '#token = :token AND #status = :status',
      ExpressionAttributeNames: { '#status': 'status', '#token': 'token' },
      ExpressionAttributeValues: { ':done': 'done', ':token': token, ':status': status },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}
