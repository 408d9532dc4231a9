import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { SqsFault } from '../../src/testing/sqs-rules.ts'

/** What the process asks the stub for. */
export type ToStub = 'counts'

/** A fault of the whole request, or its answer; `items`: how many entries, statements or actions it had. */
export type StubAnswer = ({ readonly body: object } | { readonly fault: SqsFault }) & { readonly items: number }

/** By action. */
export type StubCounts = {
  readonly requests: Readonly<Record<string, number>>
  readonly items: Readonly<Record<string, number>>
}

export type Stub = {
  readonly endpoint: string
  readonly queueUrl: string
  /** What it took since it was last asked. */
  readonly counts: () => Promise<StubCounts>
  readonly stop: () => Promise<void>
}

export const TABLE = 'bench-table'
export const QUEUE_PATH = '/000000000000/bench.fifo'

/** Starts the stub on a free port of 127.0.0.1. It ends with this process. */
export async function startStub(): Promise<Stub> {
  const child = fork(join(import.meta.dirname, 'stub-server.ts'))
  const answer = async <Answer>(): Promise<Answer> => (await once(child, 'message'))[0] as Answer
  const { port } = await answer<{ port: number }>()
  const endpoint = `http://127.0.0.1:${port}`
  return {
    endpoint,
    queueUrl: `${endpoint}${QUEUE_PATH}`,
    counts: () => {
      child.send('counts' satisfies ToStub)
      return answer<StubCounts>()
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
