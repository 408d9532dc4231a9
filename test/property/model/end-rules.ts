import { sha256 } from '../../../src/event/identity.ts'
import { type RowState, rowState } from '../../../src/outbox/row.ts'
import { type Books, type Committed, shortName } from './books.ts'
import { CONSUMERS, HANDLERS } from './plan.ts'
import { destinationsOf } from './row-rules.ts'
import { REGION, type World } from './world.ts'

/** What is left to do; empty once everything has come to its end. */
export function unfinished({ outbox, ledger, queue, story }: World, keepsDead: boolean): string[] {
  const isOpen = (state: RowState): boolean => state === 'pending' || (state === 'dead' && !keepsDead)
  const rows = outbox.items().filter((item) => isOpen(rowState(item.shard?.S)) && item.region?.S === REGION)
  const entries = ledger.items().filter(({ status }) => status?.S !== 'done')
  const queues = CONSUMERS.flatMap(({ queue: name }) => [name, name.replace('.', '-dead.')]).flatMap((name) => {
    const { visible, invisible } = queue(name).depth()
    return visible + invisible === 0 ? [] : [`${visible + invisible} messages in ${name}`]
  })
  return [
    ...rows.map(({ pk, sk, shard }) => `row ${pk?.S} ${Number(sk?.S) || ''} ${rowState(shard?.S)}`),
    ...entries.map(({ pk, sk, status }) => `ledger ${story.nameOf(pk?.S ?? '')} ${sk?.S} ${status?.S}`),
    ...queues,
  ]
}

/** What must be true once all is calm and done. */
export function checkEnd(world: World): void {
  checkWrites(world)
  for (const row of distinctById(world.books)) checkEvent(world, row)
  checkNothingElse(world)
}

/** Once for each time that it was committed: a key may come again when its row has expired. */
function checkEvent({ books, data, outbox }: World, row: Committed): void {
  const state = rowState(outbox.slot(`${row.pk}\0${row.sk}`).item?.shard?.S)
  if (state === 'dead') return
  const short = shortName(row.identity)
  const rounds = books.committed.filter(({ id }) => id === row.id)
  const isOurs = row.region === REGION
  if (!isOurs && rowState(outbox.slot(`${row.pk}\0${row.sk}`).item?.shard?.S) !== 'pending')
    books.breach(`${short}: another Region's row was touched`)
  for (const { name: consumer, queue } of CONSUMERS) {
    const routed = rounds.filter((round) => destinationsOf(round).includes(queue)).length
    const wanted = isOurs ? routed + (queue === 'q1.fifo' ? (books.again.get(row.id) ?? 0) : 0) : 0
    for (const handler of HANDLERS) {
      const name = `${consumer}/${handler}`
      const committed = Number(data.slot(`effect ${row.id} ${name}\0-`).item?.n?.N ?? 0)
      const outside = books.effects.filter((effect) => effect.id === row.id && effect.name === name)
      const isWaived = books.waived.has(`${row.id} ${name}`)
      if (handler === 'commit' && committed !== wanted && !(isWaived && committed < wanted))
        books.breach(`${short}: ${name} had its effect ${committed} times, not ${wanted}`)
      if (handler === 'plain' && (outside.length < wanted || (wanted === 0 && outside.length > 0)))
        books.breach(`${short}: ${name} had its effect ${outside.length} times, not ${wanted}`)
      if (outside.some(({ key }) => key !== sha256(`${row.id} ${name}`)))
        books.breach(`${short}: another idempotency key`)
    }
  }
}

/** What a writer was told, against what became of its transaction: all of it or nothing, once. */
function checkWrites({ books, data }: World): void {
  for (const { mark, said } of books.results.values()) {
    const times = Number(data.slot(`${mark}\0-`).item?.n?.N ?? 0)
    if (times > 1) books.breach(`${mark} was applied ${times} times`)
    if (said === 'committed' && times !== 1) books.breach(`${mark}: told committed, but it was not`)
    if ((said === 'failed' || said === 'duplicate') && times !== 0)
      books.breach(`${mark}: told ${said}, but it was applied`)
  }
}

/** No effect of what was never committed. */
function checkNothingElse({ books, data, ledger }: World): void {
  const known = new Set(books.committed.map(({ id }) => id))
  for (const { id } of books.effects) if (!known.has(id)) books.breach(`an effect of what was never committed: ${id}`)
  for (const item of ledger.items())
    if (!known.has(item.pk?.S ?? '')) books.breach('a ledger row of what was never committed')
  for (const item of data.items()) {
    const [kind, id = ''] = (item.pk?.S ?? '').split(' ')
    if (kind === 'effect' && !known.has(id)) books.breach(`an effect of what was never committed: ${id}`)
  }
}

function distinctById({ committed }: Books): Committed[] {
  return [...new Map(committed.map((row) => [row.id, row])).values()]
}
