import { rowState } from '../../../src/outbox/row.ts'
import { startConsumers } from './consumers.ts'
import { checkEnd, unfinished } from './end-rules.ts'
import { redriveByHand, redriveLetters, redriveRows, sendAgain } from './operator.ts'
import type { Chapter, Plan, Step } from './plan.ts'
import { openStream, type Stream } from './stream.ts'
import { startSweepers } from './sweepers.ts'
import { createWorld, type World } from './world.ts'
import { write } from './writers.ts'

export type Played = { readonly breaches: readonly string[]; readonly story: string; readonly steps: number }

/** How long a chapter's faults go on after its last step. ms */
const TROUBLE_MS = 240_000
/** How long a calm world may take to come to its end: a message may stay hidden for 15 minutes, again and again. ms */
const DRAIN_MS = 4 * 3_600_000
/** A run that never comes to rest ends here. */
const MAX_STEPS = 60_000
const LOOK_EVERY = 20

/** Plays a plan from its beginning to its end, and says what went wrong. */
export async function play(plan: Plan): Promise<Played> {
  const { stackTraceLimit } = Error
  // Every aborted timer makes an error that nobody reads; its stack would cost half of the time.
  Error.stackTraceLimit = 0
  try {
    return await playChapters(plan)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

async function playChapters(plan: Plan): Promise<Played> {
  const world = createWorld(plan)
  const stream = openStream(world)
  startSweepers(world)
  startConsumers(world)
  for (const [n, chapter] of plan.chapters.entries()) {
    if (world.books.breaches.length > 0) break
    await playChapter(world, { stream, chapter, number: n, isLast: n === plan.chapters.length - 1 })
  }
  return { breaches: world.books.breaches, story: world.story.text(), steps: world.scheduler.steps() }
}

type ChapterPlay = {
  readonly stream: Stream
  readonly chapter: Chapter
  readonly number: number
  readonly isLast: boolean
}

async function playChapter(world: World, { stream, chapter, number, isLast }: ChapterPlay): Promise<void> {
  const { scheduler, books, story } = world
  const isBroken = (): boolean => books.breaches.length > 0
  story.tell('—', `chapter ${number + 1}`)
  world.beginChapter(number)
  const begun = scheduler.now()
  for (const [n, step] of chapter.steps.entries())
    scheduler.at(begun + step.at * 1000, () => void perform(world, { step, stream, number: `${number}.${n}` }))
  const last = chapter.steps.reduce((latest, { at }) => Math.max(latest, at), 0)
  await scheduler.run(isBroken, begun + last * 1000 + TROUBLE_MS)
  if (isBroken()) return
  world.beginChapter(undefined)
  story.tell('—', 'calm')
  const keepsDead = chapter.keepsDead && !isLast
  await drain(world, stream, keepsDead)
  if (isBroken()) return
  checkEnd(world)
  if (chapter.rest > 0) await rest(world, chapter.rest)
}

async function drain(world: World, stream: Stream, keepsDead: boolean): Promise<void> {
  const { scheduler, books, outbox } = world
  const limit = scheduler.now() + DRAIN_MS
  const first = scheduler.steps()
  const isStuck = (): boolean => scheduler.steps() - first > MAX_STEPS
  // Looked at now and then only: it reads all there is.
  const isDone = (): boolean =>
    scheduler.steps() % LOOK_EVERY === 0 && stream.isIdle() && unfinished(world, keepsDead).length === 0
  const isOver = (): boolean => books.breaches.length > 0 || isStuck() || isDone()
  let ended = false
  const operate = (): void => {
    if (ended) return
    const dead = !keepsDead && outbox.items().some(({ shard }) => rowState(shard?.S) === 'dead')
    void (dead ? redriveRows(world) : Promise.resolve())
      .then(() => redriveLetters(world, false))
      .then(() => redriveLetters(world))
    scheduler.in(300_000, operate)
  }
  operate()
  await scheduler.run(isOver, limit)
  ended = true
  if (books.breaches.length > 0) return
  const left = unfinished(world, keepsDead)
  if (left.length > 0) books.breach(`never came to its end: ${left.join('; ')}`)
  // Stragglers: what still runs must change nothing any more.
  await scheduler.run(() => books.breaches.length > 0, scheduler.now() + 180_000)
}

async function rest({ scheduler, outbox, story, books }: World, seconds: number): Promise<void> {
  story.tell('—', `nothing happens for ${seconds} s`)
  await scheduler.run(() => books.breaches.length > 0, scheduler.now() + seconds * 1000)
  for (const [key, { item }] of outbox.slots)
    if (item?.expires !== undefined && Number(item.expires.N) * 1000 <= scheduler.now()) outbox.change(key, undefined)
}

type Performance = { readonly step: Step; readonly stream: Stream; readonly number: string }

function perform(world: World, { step, stream, number }: Performance): Promise<void> | void {
  switch (step.do) {
    case 'redrive-rows':
      return redriveRows(world)
    case 'redrive-messages':
      return redriveLetters(world)
    case 'redrive-by-hand':
      return redriveByHand(world)
    case 'replay-stream':
      return stream.replay()
    case 'send-again':
      return sendAgain(world)
    default:
      return write(world, step, number).catch((error: unknown) => {
        world.story.tell('writer', `gave up: ${String(error)}`)
      })
  }
}
