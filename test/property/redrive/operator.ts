import { redriveMessages } from '../../../src/ops/redrive-messages.ts'
import type { Process } from '../model/process.ts'
import type { Pass } from './plan.ts'
import { CONSUMER, type World } from './world.ts'

/** How long a dead operator's messages stay hidden, ms. */
const HOLD_MS = 120_000
/** Troubles that a pass may meet and yet be sure to have seen everything. */
const SLOW = /^slow/

type Begun = { readonly at: number; readonly letters: number; readonly troubledAt: number }

export type Operators = { readonly pass: (select: Pass['select']) => Promise<void> }

/** Operators, each pass a process of its own, and what must hold when one ends. */
export function createOperators(world: World): Operators {
  const { spawn, sqs, scheduler, queue, deadLetters, luck, wire, onStop } = world
  let under = 0
  /** When somebody last began or ended a pass, or died in one. */
  let changed = Number.NEGATIVE_INFINITY
  let troubledAt = Number.NEGATIVE_INFINITY
  onStop((process) => {
    if (process.role === 'operator') troubledAt = scheduler.now()
  })
  const passed = (process: Process, begun: Begun, seen: number): void => {
    const troubles = wire.met(process)
    const isAlone = under === 0 && changed === begun.at && begun.troubledAt < begun.at - HOLD_MS
    const { invisible } = deadLetters.depth()
    if (isAlone && troubles.length === 0 && invisible > 0)
      world.breach(`${process.name} has ended, and ${invisible} messages are hidden`)
    if (isAlone && troubles.every((trouble) => SLOW.test(trouble)) && seen < begun.letters)
      world.breach(`${process.name} has seen ${seen} of ${begun.letters}`)
  }
  const pass: Operators['pass'] = async (select) => {
    const process = spawn('operator')
    const begun = { at: scheduler.now(), letters: deadLetters.depth().visible, troubledAt }
    changed = begun.at
    under += 1
    let ended = false
    const end = (): void => {
      if (ended) return
      ended = true
      under -= 1
      if (under > 0) changed = scheduler.now()
    }
    process.onEnd(end)
    const urls = { queueUrl: queue.url, deadLetterQueueUrl: deadLetters.url }
    const isSelected = ({ id, handlers }: { readonly id: string; readonly handlers: readonly string[] }): boolean => {
      if (select === 'half') return luck('half', id) < 0.5
      return select === 'one' ? handlers.includes(`${CONSUMER}/one`) : select === 'all'
    }
    const report = await redriveMessages({ client: sqs.clientFor(process), ...urls }, isSelected).catch(() => undefined)
    end()
    // What it could not show again stays hidden for as long.
    if (wire.met(process).length > 0) troubledAt = scheduler.now()
    if (report !== undefined) passed(process, begun, report.redriven + report.failed + report.left)
  }
  return { pass }
}
