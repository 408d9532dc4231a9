import { seededRandom } from '../../demo/chance.ts'

export type Random = () => number

/** FNV-1a: 32 bits of a text. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193)
  return hash >>> 0
}

/**
 * The chance of one request: the same for the n-th request of a process in every run of a seed, whatever the other
 * processes do meanwhile.
 */
export function requestRandom(seed: number, process: string, n: number): Random {
  return seededRandom(hashText(`${seed}/${process}/${n}`))
}

export function between(random: Random, from: number, to: number): number {
  return from + random() * (to - from)
}

export function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random() * items.length)] ?? items[0]
}
