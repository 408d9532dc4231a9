import { beforeEach, describe, expect, it } from 'vitest'
import type { PullStore, RowVersion, StoredRow } from '../../src/outbox/pull-store.ts'
import { pullShard, type RowKey, rowKey } from '../../src/outbox/row.ts'
import { CREATED, keyed, numbered, pullRow, relayed } from '../support/pull-rows.ts'

export type PullStoreUnderTest = {
  readonly store: PullStore
  readonly put: (row: StoredRow) => Promise<unknown> | unknown
  readonly get: (key: RowKey) => Promise<StoredRow | undefined> | StoredRow | undefined
}

/** What pull workers rely on, for every implementation of the port. Each test gets a table of its own. */
export function pullStoreContract(name: string, create: () => Promise<PullStoreUnderTest> | PullStoreUnderTest): void {
  describe(`pull store: ${name}`, () => {
    const key = rowKey(keyed('a'))
    const shard = pullShard(key) ?? ''
    const fresh: RowVersion = { shard, token: undefined, due: CREATED }
    let { store, put, get }: PullStoreUnderTest = {} as PullStoreUnderTest

    beforeEach(async () => {
      ;({ store, put, get } = await create())
    })

    describe('changes', () => {
      it('sets and takes away what they say, and nothing else', async () => {
        await put(pullRow(keyed('a'), { failure: 'once' }))
        const change = { key, expect: fresh, set: { token: 'w 1', due: 9, claims: 1 }, remove: ['failure', 'nothing'] }
        expect(await store.change(change)).toEqual({ status: 'landed' })
        expect(await get(key)).toEqual(pullRow(keyed('a'), { token: 'w 1', due: 9, claims: 1 }))
      })

      it.each<[string, Partial<RowVersion>]>([
        ['another shard', { shard: 'd#1' }],
        ['a token where there is none', { token: 'w 1' }],
        ['another time', { due: CREATED + 1 }],
        ['no time where there is one', { due: undefined }],
      ])('are refused for %s, with what stands there', async (_, other) => {
        const row = pullRow(keyed('a'))
        await put(row)
        const change = { key, expect: { ...fresh, ...other }, set: { claims: 1 }, remove: [] }
        expect(await store.change(change)).toEqual({ status: 'gone', row })
        expect(await get(key)).toEqual(row)
      })

      it.each<[string, RowVersion['token']]>([
        ['another token', 'w 2'],
        ['none', undefined],
      ])('of a held row are refused to %s', async (_, token) => {
        const row = pullRow(keyed('a'), { token: 'w 1' })
        await put(row)
        const change = { key, expect: { ...fresh, token }, set: { claims: 1 }, remove: ['shard'] }
        expect(await store.change(change)).toEqual({ status: 'gone', row })
      })

      it('create no row', async () => {
        const change = { key, expect: fresh, set: { claims: 1 }, remove: [] }
        expect(await store.change(change)).toEqual({ status: 'gone', row: undefined })
        expect(await get(key)).toBeUndefined()
      })

      it('land once: of two at once one is refused', async () => {
        await put(pullRow(keyed('a')))
        const claim = (token: string) => store.change({ key, expect: fresh, set: { token, due: 9 }, remove: [] })
        const answers = await Promise.all([claim('w 1'), claim('w 2')])
        expect(answers.map(({ status }) => status).sort()).toEqual(['gone', 'landed'])
      })
    })

    describe('reads', () => {
      it('give a row, or nothing', async () => {
        expect(await store.readRow(key)).toBeUndefined()
        await put(pullRow(keyed('a')))
        expect(await store.readRow(key)).toEqual(pullRow(keyed('a')))
      })

      it('give the index by time, page by page, and only what is in it', async () => {
        const rows = [3, 1, 2].map((n) => pullRow(keyed('a'), { pk: `K#shop/k${n}`, shard, due: CREATED + n }))
        for (const row of [...rows, pullRow(keyed('b'), { ...relayed, pk: 'K#shop/gone' })]) await put(row)
        await put(pullRow(keyed('c'), { pk: 'K#shop/other', shard: 'w#shop#other' }))
        const first = await store.readIndex({ shard, limit: 2 })
        expect(first).toMatchObject({ entries: [{ pk: 'K#shop/k1' }, { pk: 'K#shop/k2' }], more: true })
        const [, after] = first.entries
        if (after === undefined) throw new Error('no second entry')
        expect(after).toEqual({ pk: 'K#shop/k2', sk: '-', due: CREATED + 2, created: CREATED })
        expect((await store.readIndex({ shard, limit: 5, after })).entries).toMatchObject([{ pk: 'K#shop/k3' }])
      })

      it('give a group up and down, within bounds', async () => {
        for (const n of [1, 2, 3, 4]) await put(pullRow(numbered('g', n)))
        await put(pullRow(numbered('other', 2)))
        const { pk } = rowKey(numbered('g', 1))
        const numbers = async (range: object) =>
          (await store.readGroup({ pk, limit: 10, ...range })).rows.map(({ sk }) => Number(sk))
        const sk = (n: number) => rowKey(numbered('g', n)).sk
        expect(await numbers({})).toEqual([1, 2, 3, 4])
        expect(await numbers({ to: sk(3), descending: true })).toEqual([3, 2, 1])
        expect(await numbers({ from: sk(2), to: sk(3) })).toEqual([2, 3])
        expect((await store.readGroup({ pk, limit: 2 })).more).toBe(true)
      })

      it('say whether the row before is there', async () => {
        const { pk, sk } = rowKey(numbered('g', 2))
        const pair = { pk, before: rowKey(numbered('g', 1)).sk, sk }
        await put(pullRow(numbered('g', 2)))
        expect(await store.readBefore(pair)).toBe('absent')
        await put(pullRow(numbered('g', 1)))
        expect(await store.readBefore(pair)).toBe('present')
      })
    })
  })
}
