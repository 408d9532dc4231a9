import type { TimeScale } from '../../../src/testing/index.ts'
import type { QueueName, Role } from '../topology.ts'

/** All that a process needs to take up its role. */
export type Assignment = {
  readonly name: string
  readonly role: Role
  readonly seed: number
  /** How far its clock is off, ms. */
  readonly skewMs: number
  readonly scale: TimeScale
  readonly endpoints: { readonly dynamo: string; readonly sqs: string }
  readonly outboxTable: string
  readonly ledgerTable: string
  readonly effectsTable: string
  readonly queues: Readonly<Record<QueueName, { readonly url: string; readonly deadLetterUrl: string }>>
  /** Files: what happened outside of AWS, and one that exists once every cause of failure is fixed. */
  readonly journal: string
  readonly fixed: string
}

export type ToProcess =
  | { readonly kind: 'assign'; readonly assignment: Assignment }
  | {
      readonly kind: 'invoke'
      readonly event: unknown
      readonly functionName: string
      readonly requestId: string
      readonly deadline: number
    }
  /** Writers: go on, or wait. */
  | { readonly kind: 'pace'; readonly go: boolean }
  /** Writers: finish what is under way, then say `finished`. */
  | { readonly kind: 'finish' }
  /** Operator: redrive a share (0 to 1) of the dead letters, then say `finished`. */
  | { readonly kind: 'redrive'; readonly share: number }

export type FromProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'assigned' }
  | {
      readonly kind: 'answer'
      readonly response?: unknown
      readonly error?: { readonly name: string; readonly message: string }
    }
  | { readonly kind: 'wrote'; readonly events: number }
  | { readonly kind: 'finished'; readonly moved?: number }
