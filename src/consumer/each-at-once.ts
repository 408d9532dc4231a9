/** Runs the items side by side, at most so many at a time, each begun in its turn. Rejects with the first error. */
export async function eachAtOnce<Item>(
  items: readonly Item[],
  most: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const work = async (): Promise<void> => {
    for (const item of queue) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work))
}
