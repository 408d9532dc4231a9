import { describe, expect, it } from 'vitest'
import { createLook, planCandidates } from '../../src/outbox/pull-look.ts'
import type { PullStore } from '../../src/outbox/pull-store.ts'
import { pullShards } from '../../src/outbox/row.ts'
import type { IndexEntry } from '../../src/outbox/row-queries.ts'

const NOW = 1_800_000_000_000
const SHARDS = pullShards('shop')
const entry = (pk: string, sk = '-', due = NOW): IndexEntry => ({ pk, sk, due })
const ordered = (group: string, n: number, due = NOW) => entry(`G#shop/${group}`, String(n).padStart(16, '0'), due)

type Asked = { readonly shard: string; readonly limit: number; readonly after?: IndexEntry }

/** An index that has so many entries in one shard and none elsewhere, and what was asked of it. */
function indexOf(shard: string, size: number) {
  const entries = Array.from({ length: size }, (_, n) => entry(`K#shop/k${n}`, '-', n))
  const asked: Asked[] = []
  const readIndex = async (range: Asked) => {
    asked.push(range)
    const from = range.after === undefined ? 0 : entries.findIndex(({ due }) => due === range.after?.due) + 1
    const rest = range.shard === shard ? entries.slice(from) : []
    return { entries: rest.slice(0, range.limit), more: rest.length > range.limit }
  }
  return { store: { readIndex } as unknown as PullStore, asked }
}

/** One whole look, or its first pages. */
async function pagesOf(look: ReturnType<typeof createLook>, wanted: number, pages = Number.POSITIVE_INFINITY) {
  const seen: (readonly IndexEntry[])[] = []
  for await (const page of look(() => wanted)) {
    seen.push(page)
    if (seen.length >= pages) break
  }
  return seen
}

describe('a look', () => {
  it('reads all shards of the source once, each look beginning with the next', async () => {
    const { store, asked } = indexOf('none', 0)
    const look = createLook(store, 'shop', 0)
    await pagesOf(look, 1)
    await pagesOf(look, 1)
    const turned = (n: number) => [...SHARDS.slice(n), ...SHARDS.slice(0, n)]
    expect(asked.map(({ shard }) => shard)).toEqual([...turned(1), ...turned(2)])
  })

  it('begins where chance says, and comes round', async () => {
    const { store, asked } = indexOf('none', 0)
    await pagesOf(createLook(store, 'shop', 0.99), 1)
    expect(asked.map(({ shard }) => shard)).toEqual(SHARDS)
  })

  it.each([
    [1, 25],
    [7, 28],
    [100, 250],
  ])('for %i claims reads first pages of %i entries', async (wanted, limit) => {
    const { store, asked } = indexOf('none', 0)
    await pagesOf(createLook(store, 'shop', 0), wanted)
    expect(new Set(asked.map((range) => range.limit))).toEqual(new Set([limit]))
  })

  it('goes on behind a full first page, four pages deep, and the next one where it ended', async () => {
    const shard = SHARDS[1] ?? ''
    const { store, asked } = indexOf(shard, 2000)
    const look = createLook(store, 'shop', 0)
    await pagesOf(look, 1)
    const here = () => asked.filter((range) => range.shard === shard).map(({ limit, after }) => [limit, after?.due])
    expect(here()).toEqual([
      [25, undefined],
      [250, 24],
      [250, 274],
      [250, 524],
      [250, 774],
    ])
    await pagesOf(look, 1)
    expect(here().slice(5)).toEqual([
      [25, undefined],
      [250, 1024],
      [250, 1274],
      [250, 1524],
      [250, 1774],
    ])
    await pagesOf(look, 1)
    expect(here().slice(10, 12)).toEqual([
      [25, undefined],
      [250, 24],
    ])
  })

  it('that is ended at a page comes back to that page', async () => {
    const shard = SHARDS[1] ?? ''
    const { store, asked } = indexOf(shard, 2000)
    const look = createLook(store, 'shop', 0)
    await pagesOf(look, 1, 3)
    expect(asked).toHaveLength(3)
    for (let turn = 0; turn < 7; turn++) await pagesOf(look, 1, 1)
    const before = asked.length
    await pagesOf(look, 1, 2)
    expect(asked.slice(before).map(({ after }) => after?.due)).toEqual([undefined, 274])
  })

  it('forgets where it was once there is nothing behind', async () => {
    const shard = SHARDS[1] ?? ''
    const { store, asked } = indexOf(shard, 100)
    const look = createLook(store, 'shop', 0)
    await pagesOf(look, 1)
    await pagesOf(look, 1)
    const here = asked.filter((range) => range.shard === shard).map(({ after }) => after?.due)
    expect(here).toEqual([undefined, 24, undefined, 24])
  })
})

describe('the candidates of a page', () => {
  it('are what is due, each once, a group at the lowest row that the page shows', () => {
    const tried = new Set<string>()
    const page = [
      ordered('g', 7),
      entry('K#shop/a'),
      ordered('g', 5),
      entry('K#shop/b', '-', NOW + 1),
      entry('foreign', 'x'),
    ]
    expect(planCandidates(page, NOW, tried)).toEqual([
      { kind: 'group', pk: 'G#shop/g', shown: 5 },
      { kind: 'row', key: { pk: 'K#shop/a', sk: '-' } },
      { kind: 'row', key: { pk: 'foreign', sk: 'x' } },
    ])
    expect(planCandidates([...page, ordered('h', 1)], NOW, tried)).toEqual([
      { kind: 'group', pk: 'G#shop/h', shown: 1 },
    ])
  })

  it('are rows under one key apart by their second part', () => {
    const page = [entry('foreign', 'x'), entry('foreign', 'y')]
    expect(planCandidates(page, NOW, new Set())).toHaveLength(2)
  })

  it('are those too whose writer’s clock was far ahead, and none in an empty page', () => {
    const far = NOW + 26 * 3_600_000
    expect(planCandidates([entry('K#shop/a', '-', far)], NOW, new Set())).toHaveLength(1)
    expect(planCandidates([], NOW, new Set())).toEqual([])
  })
})
