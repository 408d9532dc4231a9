/**
 * Faults at the edge of an AWS client, above its own retries: what a program sees when a request never leaves, or when
 * it is carried out and the answer is lost.
 */
type Middleware = (
  next: (args: unknown) => Promise<unknown>,
  context: { readonly commandName?: string },
) => (args: unknown) => Promise<unknown>
type FaultyClient = {
  readonly middlewareStack: {
    add: (middleware: never, options: { step: 'initialize'; name: string; override: boolean }) => void
  }
}

export type Fault =
  /** The request is not sent; the call rejects with the error. */
  | { readonly before: Error }
  /** The request is sent and carried out; then the call rejects with the error. */
  | { readonly after: Error }
  /** Runs something first (another writer, a barrier), then sends. */
  | { readonly meanwhile: () => Promise<unknown> }

export type Faults = {
  /** Applies the fault to the next call of that command (`TransactWriteItemsCommand`) for which none is waiting yet. */
  readonly next: (commandName: string, ...faults: readonly (Fault | 'none')[]) => void
  /** Names of the commands sent, in order, those with a fault included. */
  readonly calls: readonly string[]
  /** Inputs of the calls of one command, in order. */
  readonly inputs: (commandName: string) => readonly unknown[]
  /** Forgets waiting faults and calls. */
  readonly reset: () => void
}

/** Adds faults to a client of the AWS SDK. A document client takes those of the client it was made from. */
export function addFaults(client: FaultyClient): Faults {
  const waiting = new Map<string, (Fault | 'none')[]>()
  const log: { readonly name: string; readonly input: unknown }[] = []
  const middleware: Middleware =
    (next, { commandName = 'unknown' }) =>
    async (args) => {
      log.push({ name: commandName, input: (args as { input?: unknown }).input })
      const fault = waiting.get(commandName)?.shift() ?? 'none'
      if (fault === 'none') return next(args)
      if ('before' in fault) throw fault.before
      if ('meanwhile' in fault) {
        await fault.meanwhile()
        return next(args)
      }
      await next(args)
      throw fault.after
    }
  client.middlewareStack.add(middleware as never, { step: 'initialize', name: 'faults', override: true })
  return {
    next: (commandName, ...faults) => {
      waiting.set(commandName, [...(waiting.get(commandName) ?? []), ...faults])
    },
    get calls() {
      return log.map(({ name }) => name)
    },
    inputs: (commandName) => log.filter(({ name }) => name === commandName).map(({ input }) => input),
    reset: () => {
      waiting.clear()
      log.length = 0
    },
  }
}

/** An error as the AWS SDK throws it: by name, with metadata, and further members. */
export function awsError(name: string, members: Readonly<Record<string, unknown>> = {}): Error {
  const httpStatusCode = name === 'InternalServerError' || name === 'ServiceUnavailable' ? 500 : 400
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode, attempts: 1 }, ...members })
}

/** No answer came: neither status nor code. */
export function networkError(name = 'TimeoutError'): Error {
  return Object.assign(new Error('socket hang up'), { name, $metadata: { attempts: 1 } })
}

/** A cancelled transaction with the reasons' codes in the order of its actions. */
export function transactionCanceled(...codes: readonly string[]): Error {
  return awsError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) })
}
