import type { HandlerName } from '../topology.ts'

/** How a handler of an event misbehaves. The other handlers of the event do not. */
export type Trouble = {
  readonly handler: HandlerName
  readonly kind: /** Throws in its first `times` attempts. */
    | 'fails'
    /** Throws until its cause is fixed, at the end of the run. */
    | 'poison'
    /** Throws a permanent error until then. */
    | 'permanent'
    /** Takes most of its function's time. */
    | 'slow'
    /** Outlasts its function in its first attempt. */
    | 'hangs'
    /** Kills its process in its first attempt. */
    | 'crashes'
    /** Lets nobody know that its commit failed. */
    | 'swallows'
    /** Throws after its commit has landed. */
    | 'throws-after'
  readonly times?: number
}

/** The data of the rig's events. */
export type EventData = {
  /** The transaction that wrote it; absent where several may (a keyed event). */
  readonly tx?: string
  /** Which of two contents a keyed event has. */
  readonly variant?: number
  /** The event whose handler wrote this one. */
  readonly of?: string
  readonly trouble?: Trouble
  /** Its handler enqueues a keyed event. */
  readonly follow?: boolean
  /** Its handler enqueues an event of this ordered group. */
  readonly trail?: string
  /** Makes it too long for the side queue. */
  readonly pad?: string
}
