/**
 * How likely each kind of fault is for one request it may befall: 0 to 1. Times are of the rig's clock, in
 * milliseconds.
 */
export type FaultRates = {
  /** The connection breaks and the request was never applied. */
  readonly dropped: number
  /** It was applied, and the connection broke before the answer. */
  readonly answerLost: number
  /** The connection breaks, and the request is applied some seconds later. */
  readonly late: number
  readonly delayed: number
  /** Applied twice, as by a retry below the SDK; either answer. */
  readonly duplicated: number
  readonly throttled: number
  readonly serverError: number
  /** A batch, query or transaction answered in part, in each way its operation knows. */
  readonly partial: number
  /** A transaction that is applied and stays in progress for a while: torn queries, conflicts. */
  readonly inProgress: number
}
