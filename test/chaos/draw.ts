/** One of the items, each as likely as its weight says. */
export function pick<Item>(random: () => number, weighted: readonly (readonly [Item, number])[]): Item {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0)
  let left = random() * total
  for (const [item, weight] of weighted) {
    left -= weight
    if (left < 0) return item
  }
  throw new Error('nothing to pick from')
}

/** A whole number from `from` to `to`, both included. */
export function whole(random: () => number, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1))
}
