import type { Random } from './chance.ts'
import type { PartialAnswer } from './partial-answer.ts'
import type { Json } from './request.ts'

type Item = Readonly<Record<string, unknown>>

/** DynamoDB leaves keys of a `BatchGetItem` unprocessed under throttling, or over 16 MB. At least one here. */
export function unprocessedKeys(input: Json, random: Random): PartialAnswer {
  const wanted = Object.entries((input['RequestItems'] ?? {}) as Record<string, { Keys: readonly Item[] }>)
  const parted = wanted.map(([table, request], n) => {
    const left = request.Keys.filter((_, k) => (n === 0 && k === 0) || random() < 0.4)
    return { table, request, left, read: request.Keys.filter((key) => !left.includes(key)) }
  })
  const now = parted.filter(({ read }) => read.length > 0)
  const later = parted.filter(({ left }) => left.length > 0)
  return {
    kind: 'unprocessed keys',
    ...(now.length === 0 ? {} : { forwarded: { ...input, RequestItems: requests(now, 'read') } }),
    merge: (answer) => ({ Responses: {}, ...answer, UnprocessedKeys: requests(later, 'left') }),
  }
}

type Parted = {
  readonly table: string
  readonly request: object
  readonly left: readonly Item[]
  readonly read: readonly Item[]
}

function requests(parted: readonly Parted[], part: 'read' | 'left'): Record<string, object> {
  return Object.fromEntries(parted.map((entry) => [entry.table, { ...entry.request, Keys: entry[part] }]))
}

/** A page ends after 1 MB, or wherever DynamoDB likes: at least one item, and the key to go on from. */
export function cutPage(input: Json, random: Random): PartialAnswer {
  const chance = random()
  return {
    kind: 'page cut',
    forwarded: input,
    merge: (answer) => {
      const items = (answer['Items'] ?? []) as readonly Item[]
      const kept = items.slice(0, 1 + Math.floor(chance * items.length))
      const last = lastKey(kept.at(-1), input['IndexName'] !== undefined)
      if (kept.length === items.length || last === undefined) return answer
      return { ...answer, Items: kept, Count: kept.length, ScannedCount: kept.length, LastEvaluatedKey: last }
    },
  }
}

/** Undefined where a projection left the keys out. */
export function lastKey(item: Item | undefined, ofIndex: boolean): Item | undefined {
  const names = ofIndex ? ['pk', 'sk', 'shard', 'due'] : ['pk', 'sk']
  if (item === undefined || names.some((name) => item[name] === undefined)) return undefined
  return Object.fromEntries(names.map((name) => [name, item[name]]))
}

/** A poll asks some of SQS's servers and gives fewer messages than there are. */
export function receiveFewer(input: Json, random: Random): PartialAnswer {
  const max = Number(input['MaxNumberOfMessages'] ?? 1)
  return {
    kind: 'fewer received',
    forwarded: { ...input, MaxNumberOfMessages: 1 + Math.floor(random() * max) },
    merge: (answer) => answer,
  }
}
