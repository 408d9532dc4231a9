/** What has to be known of an entry to pack it. */
export type Packable = {
  /** Entries of one group leave in turn: never two at a time. */
  readonly groupId: string
  /** As the destination counts them. */
  readonly bytes: number
}

export type RequestLimits = {
  readonly maxEntries: number
  readonly maxBytes: number
  /** Default: as many as it takes. */
  readonly maxRequests?: number
}

export type RequestPlan<Entry> = {
  /** May be sent at once, all of them: no group is in two requests, none twice in one. */
  readonly requests: readonly (readonly Entry[])[]
  /** Have to wait, for an earlier entry of their group or for room; in their old order. */
  readonly rest: readonly Entry[]
}

/**
 * Packs ready entries into few full requests, in order. At most one entry of a group is in all the requests together,
 * always its first, and none of a `busy` group (one with an entry in flight): so no later entry can be accepted while an
 * earlier one of its group is refused. An entry larger than `maxBytes` travels alone; the destination judges it.
 */
export function planRequests<Entry extends Packable>(
  entries: readonly Entry[],
  { maxEntries, maxBytes, maxRequests = Number.POSITIVE_INFINITY }: RequestLimits,
  busy: ReadonlySet<string> = new Set(),
): RequestPlan<Entry> {
  const taken = new Set(busy)
  const requests: Entry[][] = []
  const rest: Entry[] = []
  let open: Entry[] = []
  let bytes = 0
  for (const [index, entry] of entries.entries()) {
    if (taken.has(entry.groupId)) {
      rest.push(entry)
      continue
    }
    if (open.length === 0 || open.length >= maxEntries || bytes + entry.bytes > maxBytes) {
      if (requests.length >= maxRequests) return { requests, rest: [...rest, ...entries.slice(index)] }
      open = []
      bytes = 0
      requests.push(open)
    }
    taken.add(entry.groupId)
    open.push(entry)
    bytes += entry.bytes
  }
  return { requests, rest }
}
