import type { DynamoDBClient, TransactWriteItem, TransactWriteItemsInput } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'

/** Which client carries the calls. It is said by the caller, never detected: the two take items in different forms. */
export type ClientChoice =
  | { readonly client: DynamoDBClient; readonly documentClient?: never }
  | { readonly documentClient: DynamoDBDocumentClient; readonly client?: never }

export type ClientKind = 'client' | 'documentClient'

/** One action as `client` takes it: values are AttributeValues (`{ S: 'text' }`). */
export type AttributeWrite = TransactWriteItem

/** One action as `documentClient` takes it: values are native (`'text'`). */
export type DocumentWrite = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** One action of the caller's own: exactly one of `Put`, `Update`, `Delete`, `ConditionCheck`, in the form of the client given. */
export type ClientWrite = AttributeWrite | DocumentWrite

/** What a caller's own `send` gets: the whole request in the form of the client given, with its `ClientRequestToken`. */
export type TransactionInput = (TransactWriteItemsInput | TransactWriteCommandInput) & { ClientRequestToken: string }

/**
 * Sends one `TransactWriteItems` request as it is and rejects with the error of the AWS SDK as it is. The answer is not
 * looked at. Called again with the same token when the outcome of a try is a conflict, a throttle or unknown.
 */
export type SendTransaction = (input: TransactionInput) => Promise<unknown>
