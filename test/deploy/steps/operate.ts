import assert from 'node:assert/strict'
import type { ActSummary, DeadGroup, ReplaySummary } from '../../../src/ops/index.ts'
import { readQueueDepth } from '../../../src/ops/sqs-queue-depth.ts'
import { rowState } from '../../../src/outbox/row.ts'
import { seededRandom } from '../../demo/chance.ts'
import { runKilled, runOutbox } from '../command.ts'
import { eventually } from '../eventually.ts'
import { assertMailedOnce, assertReservedInOrder, effectsOf, mailsOf, reservationsOf } from '../operate/effects.ts'
import { type Bulk, dieThousandfold, MAIL, piecesTaken, putRelayed, ROWS, STOCK } from '../operate/thousand.ts'
import type { Sample } from '../sample.ts'
import { invoke, readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import type { World } from '../world.ts'

const KILLS = 10
const BY = ['--by', 'ann']

type Listed = { readonly groups: readonly DeadGroup[]; readonly total: number; readonly hidden: number }

/** What an operator does on the deployed sample. Several steps: what a killed command has held is seen again after two minutes. */
export function operate(sample: Sample) {
  let bulk: Bulk = { mails: [], stock: [] }

  const listed: Step = {
    title: 'a thousand dead letters of three causes are listed with their counts',
    run: async (world) => {
      bulk = await dieThousandfold(world, sample.outputs())
      const { json } = await runOutbox<Listed>('dead-letters')
      assert.deepEqual([json.total, json.hidden], [1000, 0])
      const found = json.groups.map(({ handler, failure, count }) => ({ handler, failure, count }))
      assert.deepEqual(found, [MAIL, STOCK, ROWS])
      return found.map(({ handler, count }) => `${count} of ${handler}`).join(', ')
    },
  }

  const oneCause: Step = {
    title: `one cause redriven, killed at ${KILLS} random requests and run again; the others stay`,
    run: async (world) => {
      const { shopTable, deadLetterQueueUrl } = sample.outputs()
      const argv = ['redrive', '--handler', ROWS.handler, '--failure', 'InvalidMessage', '--yes', ...BY]
      const killed = await killEach(argv, { seed: 1, upTo: 30 })
      const { code, json } = await runOutbox<ActSummary>(...argv)
      assert.deepEqual([code, json.kept, json.left, json.hidden], [0, 0, 0, 0])
      await sweep(world, sample)
      const refused = bulk.mails.slice(MAIL.count)
      const effects = async () => effectsOf(await readAll(world, shopTable))
      await eventually('their mails', async () => mailsOf(await effects(), refused) === ROWS.count)
      await settled(world, sample)
      assertMailedOnce(await effects(), refused)
      assert.deepEqual(
        [mailsOf(await effects(), bulk.mails), reservationsOf(await effects(), bulk.stock)],
        [ROWS.count, 0],
      )
      assert.equal((await readQueueDepth(world.sqs, deadLetterQueueUrl)).visible, MAIL.count + STOCK.count)
      return `${json.done} were left for the last run; ${killed}`
    },
  }

  const allKilled: Step = {
    title: `a redrive of all, killed at ${KILLS} random requests`,
    run: async (world) => {
      const killed = await killEach(['redrive', '--all', '--yes', ...BY], { seed: 2, upTo: 60 })
      await emptied(world, sample)
      return killed
    },
  }

  const replayKilled: Step = {
    title: `a replay, killed at ${KILLS} random requests and run again: all handled once, groups in order`,
    run: async (world) => {
      const { shopTable } = sample.outputs()
      const began = new Date().toISOString()
      const again = await putRelayed(world, sample.outputs())
      const amount = again.flat().length
      const which = ['--source', 'shop', '--type', 'order.placed', '--from', began, '--handler', STOCK.handler]
      const argv = ['replay', ...which, '--per-second', '1000', '--yes', ...BY]
      const killed = await killEach(argv, { seed: 3, upTo: 25 })
      const { code, json } = await runOutbox<ReplaySummary>(...argv)
      assert.deepEqual([code, json.replayed + json.before, json.whole], [0, amount, true])
      await sweep(world, sample)
      await eventually(
        `${amount} reservations`,
        async () => reservationsOf(effectsOf(await readAll(world, shopTable)), again) === amount,
      )
      await settled(world, sample)
      const items = await readAll(world, shopTable)
      assertReservedInOrder(effectsOf(items), again)
      assert.equal(piecesTaken(items, 'again'), amount, 'pieces that the replayed orders have taken')
      return `${amount} events, ${json.before} of them by killed runs; ${killed}`
    },
  }

  const allRedriven: Step = {
    title: 'the redrive that was killed, run again: nothing lost, nothing handled twice, groups in order',
    run: async (world) => {
      const { shopTable, ledgerTable, deadLetterQueueUrl } = sample.outputs()
      await eventually(
        'all dead letters to be seen again',
        async () => (await readQueueDepth(world.sqs, deadLetterQueueUrl)).inFlight === 0,
        { seconds: 130 },
      )
      const { code, json } = await runOutbox<ActSummary>('redrive', '--all', '--yes', ...BY)
      assert.deepEqual([code, json.kept, json.left, json.hidden], [0, 0, 0, 0])
      await eventually('everything to be handled', async () => {
        const effects = effectsOf(await readAll(world, shopTable))
        return mailsOf(effects, bulk.mails) + reservationsOf(effects, bulk.stock) === 1000
      })
      await settled(world, sample)
      const items = await readAll(world, shopTable)
      assertMailedOnce(effectsOf(items), bulk.mails)
      assertReservedInOrder(effectsOf(items), bulk.stock)
      assert.equal(piecesTaken(items, 'bulk'), STOCK.count, 'pieces that the redriven orders have taken')
      assert.deepEqual((await runOutbox<Listed>('dead-letters')).json, { groups: [], total: 0, hidden: 0 })
      const undone = (await readAll(world, ledgerTable)).filter(({ status }) => status !== 'done')
      assert.deepEqual(undone, [])
      return `${json.done} were left for the last run`
    },
  }

  return { listed, oneCause, allKilled, replayKilled, allRedriven }
}

/** Runs a command again and again, each time until it dies at a request drawn for it. */
async function killEach(argv: readonly string[], { seed, upTo }: { seed: number; upTo: number }): Promise<string> {
  const random = seededRandom(seed)
  const points: string[] = []
  for (let n = 1; n <= KILLS; n++) {
    const request = 1 + Math.floor(random() * upTo)
    const moment = random() < 0.5 ? 'before' : 'after'
    await runKilled({ request, moment }, ...argv)
    points.push(`${moment} ${request}`)
  }
  return points.join(', ')
}

/** One run of the deployed sweeper, at once: its schedule comes each minute, and both may run. */
async function sweep(world: World, sample: Sample): Promise<void> {
  await invoke(world, sample.outputs().sweeperFunction, {})
}

async function emptied({ sqs }: World, sample: Sample): Promise<void> {
  await eventually('an empty queue', async () => {
    const { visible, inFlight } = await readQueueDepth(sqs, sample.outputs().queueUrl)
    return visible + inFlight === 0
  })
}

/** No row and no message is on its way: what was handled is all that will be. */
async function settled(world: World, sample: Sample): Promise<void> {
  await eventually('no pending row', async () => {
    const rows = await readAll(world, sample.outputs().outboxTable)
    return !rows.some(({ shard }) => rowState(shard) === 'pending')
  })
  await emptied(world, sample)
}
