import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createOutbox } from '../../../src/outbox/create-outbox.ts'
import { committedOf, shortName } from '../model/books.ts'
import type { Table } from '../model/engine/table.ts'
import type { Process } from '../model/process.ts'
import { openStage, REGION, type Stage } from '../stage/stage.ts'
import type { Act, LoopAct, PullPlan } from './plan.ts'

export const SOURCE = 'shop'
export const TYPE = 'stepped'
/** Attempts of each handler. */
export const MAX_ATTEMPTS = 3
export const CONSUMER = 'p'
export const HANDLERS = [`${CONSUMER}/commit`, `${CONSUMER}/plain`] as const

export type World = Stage & {
  readonly plan: PullPlan
  readonly outbox: Table
  readonly ledger: Table
  readonly data: Table
  readonly maxClaims: number
  /** What is done with an event in its next claim or run. */
  readonly nextAct: (id: string, key: string, name: string) => Act
  /** What a process's own loop is doing with a row, by the row's key. */
  readonly acting: Map<string, LoopAct>
  /** Rows whose claims have landed since a process last asked, with their tokens. */
  readonly taken: Map<Process, Map<string, string>>
  /** Effects outside of the tables, by event and handler. */
  readonly effects: Map<string, number>
  /** Failures of a handler's own, and its claims alone, by event and handler: what it may have spent. */
  readonly spent: Map<string, number>
  readonly clientFor: (process: Process) => DynamoDBClient
}

export function openWorld(plan: PullPlan): World {
  const stage = openStage({ ...plan, tables: ['outbox', 'ledger', 'data'] })
  const { dynamo, story } = stage
  const [outbox, ledger, data] = ['outbox', 'ledger', 'data'].map(dynamo.table) as [Table, Table, Table]
  const runs = new Map<string, number>()
  const world: World = {
    ...stage,
    plan,
    outbox,
    ledger,
    data,
    maxClaims: plan.spareClaims + (plan.kind === 'loop' ? 1 : MAX_ATTEMPTS + 2),
    acting: new Map(),
    taken: new Map(),
    effects: new Map(),
    spent: new Map(),
    nextAct: (id, key, name) => {
      if (stage.isCalm()) return plan.kind === 'loop' ? 'acknowledge' : 'ok'
      const run = runs.get(`${id} ${name}`) ?? 0
      runs.set(`${id} ${name}`, run + 1)
      const place = Math.floor(stage.luck('script', key.slice(-3), name) * plan.scripts.length)
      return plan.scripts[place]?.[run] ?? (plan.kind === 'loop' ? 'acknowledge' : 'ok')
    },
    clientFor: (process) => withShortPages(dynamo.clientFor(process), plan.page),
  }
  outbox.onChange(({ after, at }) => {
    const row = after === undefined ? undefined : committedOf(after, at)
    if (row !== undefined) story.name(row.id, shortName(row.identity))
  })
  return world
}

/** The outbox in one process. */
export function outboxOf({ clientFor }: World, process: Process, region = REGION) {
  return createOutbox({
    client: clientFor(process),
    tableName: 'outbox',
    delivery: 'pull',
    clock: process.clock,
    region,
  })
}

/** A token begins with it. */
export function workerIdOf({ name }: Process): string {
  return name.replace(' ', '-')
}

export function count(map: Map<string, number>, key: string, by = 1): void {
  map.set(key, (map.get(key) ?? 0) + by)
}

function withShortPages(client: DynamoDBClient, most: number): DynamoDBClient {
  const send = (command: { readonly input: { IndexName?: string; Limit?: number } }, ...rest: never[]): unknown => {
    const { input } = command
    if (input.IndexName !== undefined && input.Limit !== undefined) input.Limit = Math.min(input.Limit, most)
    return (client.send as (...all: unknown[]) => unknown)(command, ...rest)
  }
  return { ...client, send } as unknown as DynamoDBClient
}
