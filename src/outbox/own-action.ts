/** A value of our own rows: text, numbers, truth values and sets of text. Never undefined, never empty text. */
export type OwnValue = string | number | boolean | ReadonlySet<string>

export type OwnItem = Readonly<Record<string, OwnValue>>

type Conditional = {
  readonly TableName: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: OwnItem
  /** So that a failed condition shows whose row stands there. */
  readonly ReturnValuesOnConditionCheckFailure: 'ALL_OLD'
}

/**
 * An action on a table of ours, with native values: sent as it is through a `documentClient`, with AttributeValues
 * through a `client`.
 */
export type OwnAction =
  | { readonly Put: Conditional & { readonly Item: OwnItem; readonly ConditionExpression: string } }
  | {
      readonly Update: Conditional & {
        readonly Key: OwnItem
        readonly UpdateExpression: string
        readonly ConditionExpression: string
      }
    }
  | { readonly Delete: Conditional & { readonly Key: OwnItem; readonly ConditionExpression: string } }
  | { readonly ConditionCheck: Conditional & { readonly Key: OwnItem; readonly ConditionExpression: string } }
