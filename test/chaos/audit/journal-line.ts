/** Times are of the rig's clock, ms. `process` is the name of the process that wrote the line. */
export type JournalLine =
  /** A handler has been called. */
  | {
      readonly kind: 'start'
      readonly id: string
      readonly handler: string
      readonly attempt: number
      readonly process: string
      readonly at: number
    }
  /**
   * It has ended: returned, failed by itself, failed for good, or passed on an error of `ctx.commit` that spends nothing.
   */
  | {
      readonly kind: 'end'
      readonly id: string
      readonly handler: string
      readonly how: 'returned' | 'failed' | 'permanent' | 'passed'
      readonly process: string
      readonly at: number
    }
  /** An effect outside of AWS. `group` and `sequence` of an ordered event. */
  | {
      readonly kind: 'effect'
      readonly id: string
      readonly handler: string
      readonly key: string
      readonly group?: string
      readonly sequence?: number
      readonly process: string
      readonly at: number
    }
  /** A writer is about to commit a transaction. */
  | { readonly kind: 'intent'; readonly tx: string; readonly process: string; readonly at: number }
  /** What it was told: `committed`, `duplicate`, or an error's code. */
  | {
      readonly kind: 'outcome'
      readonly tx: string
      readonly outcome: string
      readonly process: string
      readonly at: number
    }
  /** The operator has seen a dead letter. No handlers: SQS itself had moved it. */
  | {
      readonly kind: 'letter'
      readonly id: string
      readonly handlers: readonly string[]
      readonly attempts?: number
      readonly reason?: string
      readonly queue: string
      readonly at: number
    }
  /** The operator has redriven a dead row. */
  | { readonly kind: 'row-redriven'; readonly id: string; readonly at: number }
  /** A process of a consumer died, or was frozen until its time was over, with messages of these events in hand. */
  | { readonly kind: 'death'; readonly process: string; readonly ids: readonly string[]; readonly at: number }
