/** Chance that a seed repeats: numbers in [0, 1), mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const result = [...items]
  for (let n = result.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1))
    const [a, b] = [result[n], result[other]]
    if (a !== undefined && b !== undefined) [result[n], result[other]] = [b, a]
  }
  return result
}

/** Some records vanish, some come twice, and all come in any order. */
export function spoil<Item>(items: readonly Item[], random: () => number): Item[] {
  const kept = items.filter(() => random() >= 0.05)
  const doubled = kept.filter(() => random() < 0.05)
  return shuffled([...kept, ...doubled], random)
}
