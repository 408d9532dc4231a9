import { chance } from './chance.ts'
import { type Fault, faultOf, noAnswer, type Outage, type Role, refusal } from './faults.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import type { Story } from './story.ts'

/** One request on its way to a service. */
export type Request<Answer> = {
  readonly service: 'dynamo' | 'sqs'
  /** `dynamo`, or the queue's name. */
  readonly target: string
  /** Name of the command. */
  readonly op: string
  /** What it is about, for the story; undefined: not worth a line unless something befalls it. */
  readonly about: (() => string) | undefined
  /** Carries it out. `partial`: luck by which parts of a batch fare differently. */
  readonly apply: (partial?: (part: number) => number) => Promise<Answer> | Answer
}

/** Requests of a process that sent messages, and whether any entry was ever taken or refused. */
export type Tries = { readonly requests: number; readonly answered: boolean }

export type Wire = {
  readonly tried: (process: Process) => Tries
  /** Kinds of the faults that a process has met. */
  readonly met: (process: Process) => readonly string[]
  /** Whether the last that a process heard of its tables was that they do not answer, throttle it or refuse it. */
  readonly isOutOfReach: (process: Process) => boolean
  readonly call: <Answer>(from: Process, request: Request<Answer>) => Promise<Answer>
}

export type WireOptions = {
  readonly scheduler: Scheduler
  readonly seed: number
  readonly faults: readonly Fault[]
  readonly outages: () => readonly Outage[]
  /** ms, the start of the chapter that outages count from; undefined: no more faults of any kind. */
  readonly chapter: () => number | undefined
  readonly story: Story
}

type Outcome<Answer> = { readonly answer: Answer } | { readonly error: unknown }

type BatchAnswer = { readonly Successful?: readonly object[]; readonly Failed?: readonly { readonly Code?: string }[] }

/** Errors of a table that has not judged the request. */
const UNREACHED: ReadonlySet<string> = new Set([
  'TimeoutError',
  'AccessDeniedException',
  'ProvisionedThroughputExceededException',
])

/** Longest that a request is on its way when nothing befalls it, ms. Calls that begin together meet in any order. */
const LATENCY_MS = 30

/** What lies between a process and its services: latency, and all that may befall a request. */
export function createWire({ scheduler, seed, faults, outages, chapter, story }: WireOptions): Wire {
  const counts = new Map<string, number>()
  const count = (role: Role, op: string): number => {
    const key = `${role} ${op}`
    const nth = counts.get(key) ?? 0
    counts.set(key, nth + 1)
    return nth
  }
  const tries = new Map<Process, Tries>()
  const met = new Map<Process, string[]>()
  const cutOff = new Map<Process, number>()
  const outOfReach = new Set<Process>()
  const noteReach = (from: Process, outcome: Outcome<unknown>): void => {
    if ('error' in outcome && UNREACHED.has((outcome.error as Error).name)) outOfReach.add(from)
    else outOfReach.delete(from)
  }
  const noteSend = (from: Process, outcome: Outcome<unknown>): void => {
    const { requests, answered } = tries.get(from) ?? { requests: 0, answered: false }
    const { Successful = [], Failed = [] } = ('answer' in outcome ? outcome.answer : {}) as BatchAnswer
    const isAnswer = Successful.length > 0 || Failed.some(({ Code }) => Code === 'InvalidMessageContents')
    const isRefusal = 'error' in outcome && (outcome.error as Error).name === 'InvalidMessageContents'
    tries.set(from, { requests: requests + 1, answered: answered || isAnswer || isRefusal })
  }
  const outageOf = (target: string, begun: number): Outage | undefined => {
    const second = (scheduler.now() - begun) / 1000
    return outages().find((one) => one.target === target && one.from <= second && second < one.from + one.seconds)
  }

  const call: Wire['call'] = (from, request) =>
    new Promise((resolve, reject) => {
      const { op, service, target } = request
      const { role } = from
      const nth = count(role, op)
      const nthOfAny = count(role, 'any')
      const begun = chapter()
      const fault = begun === undefined ? undefined : faultOf(faults, { role, op, nth, nthOfAny })
      if (fault !== undefined) met.set(from, [...(met.get(from) ?? []), `${fault.kind} ${op}`])
      const luck = (part: string): number => chance(seed, role, op, nth, part)
      const delay = (part: string): number => 1 + Math.floor(luck(part) ** 2 * LATENCY_MS)
      const slow = (kind: Fault['kind']): number => (fault?.kind === kind ? fault.seconds * 1000 : 0)

      const deliver = (outcome: Outcome<never> | Outcome<unknown>): void => {
        const wait = delay('back') + slow('slow-answer')
        scheduler.in(wait, () =>
          from.resume(() => {
            tell(outcome)
            if (op === 'SendMessageBatch') noteSend(from, outcome)
            if (service === 'dynamo') noteReach(from, outcome)
            if ('error' in outcome) reject(outcome.error)
            else resolve(outcome.answer as never)
            if (fault?.kind === 'crash-answered') scheduler.in(0, () => from.kill(`right after ${op}`))
          }),
        )
      }
      const tell = (outcome: Outcome<unknown>): void => {
        const error = 'error' in outcome ? ` ✗ ${(outcome.error as Error).name}` : ''
        const { about } = request
        const what = fault === undefined ? '' : ` [${fault.kind}]`
        if (about !== undefined || error !== '' || what !== '')
          story.tell(from.name, () => `${op} ${about?.() ?? ''}${what}${error}`)
      }
      const carryOut = async (partial?: (part: number) => number): Promise<Outcome<unknown>> => {
        try {
          return { answer: await request.apply(partial) }
        } catch (error) {
          return { error }
        }
      }
      const arrive = async (): Promise<void> => {
        if ((cutOff.get(from) ?? 0) > scheduler.now()) return deliver({ error: noAnswer() })
        const outage = begun === undefined || chapter() === undefined ? undefined : outageOf(target, begun)
        if (outage !== undefined) met.set(from, [...(met.get(from) ?? []), `outage ${op}`])
        if (outage !== undefined)
          return deliver({ error: outage.kind === 'dropped' ? noAnswer() : refusal(outage.kind, service) })
        switch (fault?.kind) {
          case 'dropped':
            return deliver({ error: noAnswer() })
          case 'throttled':
          case 'denied':
            return deliver({ error: refusal(fault.kind, service) })
          case 'lost':
            await carryOut()
            return deliver({ error: noAnswer() })
          case 'cut-off':
            await carryOut()
            cutOff.set(from, scheduler.now() + fault.seconds * 1000)
            return deliver({ error: noAnswer() })
          case 'retried': {
            await carryOut()
            if (luck('second') < 0.3) return deliver({ error: refusal('throttled', service, 2) })
            if (luck('second') < 0.6) return deliver({ error: refusal('denied', service, 2) })
            return deliver(await carryOut())
          }
          case 'partial':
            return deliver(await carryOut((part) => luck(`part ${part}`)))
          case 'crash-before':
            return from.kill(`before ${op}${request.about === undefined ? '' : ` ${request.about()}`}`)
          case 'crash-after':
            await carryOut()
            return from.kill(`after ${op}${request.about === undefined ? '' : ` ${request.about()}`} was applied`)
          case 'freeze':
            from.freeze(scheduler.now() + fault.seconds * 1000)
        }
        return deliver(await carryOut())
      }
      scheduler.in(delay('there') + slow('slow'), () => {
        if (from.isAlive() || fault?.kind !== 'crash-before') void arrive()
      })
    })
  return {
    call,
    tried: (process) => tries.get(process) ?? { requests: 0, answered: false },
    met: (process) => met.get(process) ?? [],
    isOutOfReach: (process) => outOfReach.has(process),
  }
}
