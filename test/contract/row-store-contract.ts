import { beforeEach, describe, expect, it } from 'vitest'
import type { RowImage } from '../../src/relay/row-image.ts'
import { HEARTBEAT_PK, type RowStore } from '../../src/relay/row-store.ts'
import { deadRow, keyOfRow, orderedRow, relayedRow, sk, unorderedRow } from '../support/outbox-rows.ts'

export type StoreUnderTest = {
  readonly store: RowStore
  readonly put: (image: RowImage) => Promise<unknown> | unknown
  readonly get: (key: { pk: string; sk: string }) => Promise<RowImage | undefined> | RowImage | undefined
}

/** What relay and sweeper rely on, for every implementation of the port. Each test gets a table of its own. */
export function rowStoreContract(name: string, create: () => Promise<StoreUnderTest> | StoreUnderTest): void {
  describe(`row store: ${name}`, () => {
    const signal = new AbortController().signal
    const G = 'G#shop/g'
    let { store, put, get }: StoreUnderTest = {} as StoreUnderTest

    beforeEach(async () => {
      ;({ store, put, get } = await create())
    })

    const guardOf = (image: RowImage, redrives?: number) => ({
      ...keyOfRow(image),
      shard: image['shard']?.S ?? '',
      ...(redrives === undefined ? {} : { redrives }),
    })
    const markOf = (image: RowImage, redrives = 0) => ({
      ...guardOf(image),
      redrives,
      redrivesStored: redrives > 0 || image['redrives']?.N === '0',
      expires: 1_800_000_000,
    })

    describe('marks', () => {
      it('takes the shard away and sets the expiry, and nothing else', async () => {
        const image = unorderedRow('a', { accepted: ['q'] })
        await put(image)
        expect(await store.markRelayed([markOf(image)], signal)).toEqual(['landed'])
        const { shard: _, ...rest } = image
        expect(await get(keyOfRow(image))).toEqual({ ...rest, expires: { N: '1800000000' } })
      })

      it('answers for each row: landed, or gone for one that is missing, relayed, dead or of another round', async () => {
        const images = [
          unorderedRow('pending'),
          unorderedRow('missing'),
          unorderedRow('relayed'),
          unorderedRow('dead'),
          unorderedRow('redriven', { redrives: 1 }),
          unorderedRow('again', { redrives: 2 }),
          unorderedRow('zero', { redrives: 0 }),
        ]
        const [pending = {}, , relayed = {}, dead = {}, redriven = {}, again = {}, zero = {}] = images
        for (const image of [pending, relayedRow(relayed), deadRow(dead), redriven, again, zero]) await put(image)
        const marks = images.map((image) => markOf(image, image === again ? 2 : 0))
        expect(await store.markRelayed(marks, signal)).toEqual([
          'landed',
          'gone',
          'gone',
          'gone',
          'gone',
          'landed',
          'landed',
        ])
        expect((await get(keyOfRow(redriven)))?.['expires']).toBeUndefined()
        expect((await get(keyOfRow(dead)))?.['shard']).toEqual({ S: 'd#0' })
      })

      it('lands once: the same mark again is gone', async () => {
        const image = orderedRow('g', 1)
        await put(image)
        expect(await store.markRelayed([markOf(image)], signal)).toEqual(['landed'])
        expect(await store.markRelayed([markOf(image)], signal)).toEqual(['gone'])
      })

      it('marks 25 rows in one request', async () => {
        const images = Array.from({ length: 25 }, (_, n) => unorderedRow(`k${n}`))
        for (const image of images) await put(image)
        expect(
          await store.markRelayed(
            images.map((image) => markOf(image)),
            signal,
          ),
        ).toEqual(Array(25).fill('landed'))
      })

      it('rejects the whole request when one row is named twice', async () => {
        const image = unorderedRow('a')
        await put(image)
        await expect(store.markRelayed([markOf(image), markOf(image)], signal)).rejects.toThrow()
      })
    })

    describe('acceptances', () => {
      it('are only ever added, while the row is pending in the same round', async () => {
        const image = unorderedRow('a')
        await put(image)
        expect(await store.addAccepted(guardOf(image, 0), ['one'], signal)).toBe('landed')
        expect(await store.addAccepted(guardOf(image, 0), ['two', 'one'], signal)).toBe('landed')
        expect([...((await get(keyOfRow(image)))?.['accepted']?.SS ?? [])].sort()).toEqual(['one', 'two'])
        expect(await store.addAccepted(guardOf(image, 1), ['three'], signal)).toBe('gone')
        await store.markRelayed([markOf(image)], signal)
        expect(await store.addAccepted(guardOf(image, 0), ['four'], signal)).toBe('gone')
      })

      it('create no row', async () => {
        const image = unorderedRow('a')
        expect(await store.addAccepted(guardOf(image, 0), ['one'], signal)).toBe('gone')
        expect(await get(keyOfRow(image))).toBeUndefined()
      })
    })

    describe('dead-lettering', () => {
      const burial = { shard: 'd#3', reason: 'refused', at: 5, accepted: [] }

      it('moves a pending row, with the reason and without an expiry, and keeps what it has', async () => {
        const image = unorderedRow('a', { accepted: ['q'], extra: { expires: { N: '1' } } })
        await put(image)
        expect(await store.deadLetter(guardOf(image, 0), burial, signal)).toBe('landed')
        const { expires: _, ...rest } = image
        expect(await get(keyOfRow(image))).toEqual({ ...rest, shard: { S: 'd#3' }, failure: { S: 'refused' } })
      })

      it('adds those that took it in this round to those of earlier ones', async () => {
        const [fresh, known] = [unorderedRow('a'), unorderedRow('b', { accepted: ['q'] })]
        for (const image of [fresh, known]) {
          await put(image)
          await store.deadLetter(guardOf(image, 0), { ...burial, accepted: ['one', 'two'] }, signal)
        }
        expect((await get(keyOfRow(fresh)))?.['accepted']?.SS?.toSorted()).toEqual(['one', 'two'])
        expect((await get(keyOfRow(known)))?.['accepted']?.SS?.toSorted()).toEqual(['one', 'q', 'two'])
      })

      it('gives a row without due and created what the index needs', async () => {
        const image = unorderedRow('a', { extra: { due: undefined, created: undefined } })
        await put(image)
        await store.deadLetter(guardOf(image), burial, signal)
        expect(await get(keyOfRow(image))).toMatchObject({ due: { N: '5' }, created: { N: '5' } })
        expect(await store.countShard('d#3', signal)).toBe(1)
      })

      it('is refused for a row that is not pending, or is of another round', async () => {
        const dead = unorderedRow('dead')
        const redriven = unorderedRow('redriven', { redrives: 1 })
        await put(deadRow(dead))
        await put(redriven)
        expect(await store.deadLetter(guardOf(dead, 0), burial, signal)).toBe('gone')
        expect(await store.deadLetter(guardOf(redriven, 0), burial, signal)).toBe('gone')
        expect((await get(keyOfRow(redriven)))?.['failure']).toBeUndefined()
      })

      it('needs no round for a row whose redrives cannot be read', async () => {
        const image = unorderedRow('a', { extra: { redrives: { S: 'x' } } })
        await put(image)
        expect(await store.deadLetter(guardOf(image), burial, signal)).toBe('landed')
      })
    })

    describe('listing a row without due', () => {
      it('gives it one, once, and only while it is pending', async () => {
        const image = unorderedRow('a', { extra: { due: undefined } })
        const row = { ...keyOfRow(image), shard: image['shard']?.S ?? '' }
        await put(image)
        expect((await store.readIndex({ shard: row.shard, limit: 10 }, signal)).entries).toEqual([])
        expect(await store.list(row, 77, signal)).toBe('landed')
        expect(await store.list(row, 78, signal)).toBe('gone')
        expect((await store.readIndex({ shard: row.shard, limit: 10 }, signal)).entries).toMatchObject([{ due: 77 }])
        const relayed = unorderedRow('b', { extra: { due: undefined } })
        await put(relayedRow(relayed))
        expect(await store.list({ ...keyOfRow(relayed), shard: relayed['shard']?.S ?? '' }, 77, signal)).toBe('gone')
      })
    })

    describe('reads', () => {
      it('give the rows asked for, in any order, without those that do not exist', async () => {
        const images = [unorderedRow('a'), relayedRow(unorderedRow('b'))]
        for (const image of images) await put(image)
        const found = await store.readRows([...images, unorderedRow('c')].map(keyOfRow), signal)
        expect(found).toHaveLength(2)
        expect(found).toEqual(expect.arrayContaining(images))
      })

      it('give a group in order, upward and downward, within bounds and a limit', async () => {
        for (const n of [1, 2, 3, 10, 11]) await put(orderedRow('g', n))
        await put(orderedRow('other', 4))
        const numbers = async (range: object) => {
          const { images, more } = await store.readGroup({ pk: G, limit: 100, ...range }, signal)
          return [images.map((image) => Number(image['sk']?.S)), more]
        }
        expect(await numbers({})).toEqual([[1, 2, 3, 10, 11], false])
        expect(await numbers({ descending: true })).toEqual([[11, 10, 3, 2, 1], false])
        expect(await numbers({ from: sk(2), limit: 2 })).toEqual([[2, 3], true])
        expect(await numbers({ to: sk(10), descending: true, limit: 2 })).toEqual([[10, 3], true])
        expect(await numbers({ from: sk(2), to: sk(3) })).toEqual([[2, 3], false])
      })

      it('give the state of a row in a bare read of a group', async () => {
        await put(orderedRow('g', 1))
        await put(relayedRow(orderedRow('g', 2)))
        const { images } = await store.readGroup({ pk: G, limit: 5, bare: true }, signal)
        expect(images.map((image) => image['shard'] !== undefined)).toEqual([true, false])
      })

      it('tell whether the row before exists', async () => {
        await put(orderedRow('g', 2))
        await put(relayedRow(orderedRow('g', 1)))
        expect(await store.readBefore({ pk: G, before: sk(1), sk: sk(2) }, signal)).toBe('present')
        expect(await store.readBefore({ pk: G, before: sk(2), sk: sk(3) }, signal)).toBe('present')
        expect(await store.readBefore({ pk: G, before: sk(7), sk: sk(8) }, signal)).toBe('absent')
      })
    })

    describe('the index', () => {
      it('shows pending rows of a shard by due, in pages that follow each other', async () => {
        for (const n of [5, 3, 4, 1, 2]) await put(unorderedRow(`k${n}`, { due: n, shard: 'p#09', created: 9 }))
        await put(relayedRow(unorderedRow('k6', { due: 6, shard: 'p#09' })))
        await put(unorderedRow('k7', { due: 1, shard: 'p#10' }))
        const first = await store.readIndex({ shard: 'p#09', limit: 3 }, signal)
        expect(first.entries.map(({ due }) => due)).toEqual([1, 2, 3])
        expect(first.entries[0]).toEqual({ pk: 'K#shop/k1', sk: '-', due: 1, created: 9 })
        expect(first.more).toBe(true)
        const after = first.entries.at(-1)
        if (after === undefined) throw new Error('no entry')
        const second = await store.readIndex({ shard: 'p#09', limit: 3, after }, signal)
        expect(second).toMatchObject({ entries: [{ due: 4 }, { due: 5 }], more: false })
      })

      it('shows the latest beyond a due, latest first', async () => {
        for (const n of [5, 3, 4, 1, 2]) await put(unorderedRow(`k${n}`, { due: n, shard: 'p#09' }))
        const { entries } = await store.readIndex({ shard: 'p#09', limit: 2, latestBeyond: 2 }, signal)
        expect(entries.map(({ due }) => due)).toEqual([5, 4])
      })
    })

    describe('the heartbeat', () => {
      it('is read as it was written; what a later one leaves out stays', async () => {
        expect(await store.readHeartbeat('eu-west-1', signal)).toBeUndefined()
        const first = { at: 1, pending: 2, oldestPendingMs: 3, dead: 4, deadCountedAt: 1 }
        await store.writeHeartbeat('eu-west-1', first, signal)
        expect(await store.readHeartbeat('eu-west-1', signal)).toEqual(first)
        await store.writeHeartbeat('eu-west-1', { at: 5, pending: 0, oldestPendingMs: 0 }, signal)
        expect(await store.readHeartbeat('eu-west-1', signal)).toEqual({
          ...first,
          at: 5,
          pending: 0,
          oldestPendingMs: 0,
        })
        expect(await store.readHeartbeat('us-east-1', signal)).toBeUndefined()
        const row = await get({ pk: HEARTBEAT_PK, sk: 'eu-west-1' })
        expect(row?.['shard'] ?? row?.['expires']).toBeUndefined()
      })
    })

    it('asks nothing once the signal has aborted', async () => {
      const controller = new AbortController()
      controller.abort()
      await expect(store.readRows([keyOfRow(unorderedRow('a'))], controller.signal)).rejects.toThrow()
    })
  })
}
