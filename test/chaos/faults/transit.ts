import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../../src/clock.ts'
import { jsonAnswer } from './aws-answers.ts'
import type { Random } from './chance.ts'
import { conflictOf } from './conflicts.ts'
import type { EngineAnswer, Engines } from './forward.ts'
import type { InProgress } from './in-progress.ts'
import type { PartialAnswer, Refusal } from './partial-answer.ts'
import type { Json, LayerRequest } from './request.ts'
import { type RecentInserts, staleRead } from './stale-read.ts'
import { tornRead } from './torn-read.ts'

export type TransitDependencies = {
  readonly engines: Engines
  readonly progress: InProgress
  readonly recent: RecentInserts
  readonly clock: Clock
  /** Ends early when the layer is to be calm. */
  readonly sleep: (ms: number) => Promise<void>
  readonly count: (kind: string) => void
}

/** One request with its headers, its chance, and the list of what befell it, for the trace. */
export type Journey = {
  readonly request: LayerRequest
  readonly headers: IncomingHttpHeaders
  readonly random: Random
  readonly marks: string[]
}

export type TransitOptions = {
  /** A fault that lets only a part through. A transaction in progress goes before it. */
  readonly part?: PartialAnswer | Refusal | undefined
  /** A transaction that is applied stays in progress for so long, ms of the rig's clock. */
  readonly holdMs?: number
  /** Let a replica answer that has not heard of the latest inserts, if the read allows it. */
  readonly stale?: boolean
}

/**
 * Takes a request to its engine and brings the answer back, as somebody sees it who is not alone: beside the
 * transactions in progress. Rejects if the engine cannot be reached.
 */
export function createTransit({ engines, progress, recent, clock, sleep, count }: TransitDependencies) {
  const forward = async (journey: Journey, part: PartialAnswer | undefined): Promise<EngineAnswer> => {
    const { request, headers } = journey
    if (part === undefined) return engines.forward(request, headers)
    if (part.forwarded === undefined) return jsonAnswer(part.merge({}))
    const body = part.forwarded === request.input() ? request.body : Buffer.from(JSON.stringify(part.forwarded))
    return merged(await engines.forward({ ...request, body }, headers), part)
  }

  const read = async (journey: Journey, given: PartialAnswer | undefined): Promise<EngineAnswer> => {
    const { request, random } = journey
    const torn = tornRead(request, progress, random)
    const answer = await forward(journey, torn === undefined ? given : { ...torn, merge: (all) => all })
    // A transaction may have begun meanwhile: what this reader sees of it can be hidden from nobody later.
    const seen = torn ?? tornRead(request, progress, random)
    if (seen === undefined) return answer
    if (seen.kind === 'torn query') note(journey, seen.kind)
    return merged(answer, seen)
  }

  const transact = async (journey: Journey, holdMs: number): Promise<EngineAnswer> => {
    const transaction = progress.open(journey.request)
    try {
      const answer = await forward(journey, undefined)
      if (holdMs > 0 && answer.status === 200) {
        transaction.hold(journey.random)
        note(journey, 'transaction in progress')
        await sleep(holdMs)
      }
      if (answer.status === 200) recent.note(transaction.inserts, clock.now())
      return answer
    } finally {
      transaction.end()
    }
  }

  const note = ({ marks }: Journey, kind: string): void => {
    marks.push(kind)
    count(kind)
  }

  return async (journey: Journey, { part, holdMs = 0, stale = false }: TransitOptions = {}): Promise<EngineAnswer> => {
    const { request } = journey
    const met = request.service === 'dynamo' && progress.isAnyHeld() ? conflictOf(request, progress) : undefined
    const chosen = met ?? part ?? (stale ? staleRead(request, (name) => recent.has(name, clock.now())) : undefined)
    if (chosen !== undefined) note(journey, chosen.kind)
    if (chosen !== undefined && 'refused' in chosen) return chosen.refused
    if (request.operation === 'TransactWriteItems') return transact(journey, holdMs)
    return READS.has(request.operation) ? read(journey, chosen) : forward(journey, chosen)
  }
}

const READS: ReadonlySet<string> = new Set(['GetItem', 'BatchGetItem', 'Query'])

/** An engine's error stays what it is. */
function merged(answer: EngineAnswer, { merge }: PartialAnswer): EngineAnswer {
  if (answer.status !== 200) return answer
  return jsonAnswer(merge(JSON.parse(answer.body.toString()) as Json))
}
