/** An event source of any kind, as `idle` and `stop` see it. */
export type Source = {
  /** What is left to do; empty when all is done. One short text each, for the error of a wait that timed out. */
  readonly pending: () => string[]
  /** Resolves once everything that was there before the call has been read. */
  readonly catchUp: () => Promise<void>
  /** A last look, once nothing else is left: what is stored and not done yet. */
  readonly remaining?: () => Promise<string[]>
  /** Ends reading; what is in flight is waited for. */
  readonly stop: () => Promise<void>
}
