/** A dead row of the outbox, or a message of a dead-letter queue. */
export type DeadItem = {
  readonly where: 'row' | 'message'
  readonly id: string
  /** `consumer/handler`; `relay` for a row, `pull` for one of pull workers without a ledger, `sqs` for a message that SQS moved itself after 1000 receives. */
  readonly handler: string
  readonly reason: string
  /** When it died, ms; of a row, when it was created: the moment it died is not stored. */
  readonly since: number
  readonly type?: string
  readonly attempts?: number
  /** Of a message: its dead-letter queue. */
  readonly queueUrl?: string
}

/** Dead items with the same handler and the same kind of failure. */
export type DeadGroup = {
  readonly handler: string
  readonly failure: string
  readonly count: number
  /** ms */
  readonly firstSince: number
  readonly lastSince: number
  /** The first one's id. */
  readonly example: string
}

/**
 * The kind of a failure: its reason without what differs from event to event (ids, numbers, quoted names, addresses), so
 * that a thousand dead letters of one cause are one line. An HTTP status (400–599) stays: it tells causes apart.
 */
export function failureKind(reason: string): string {
  return reason
    .replace(/(["'`]).*?\1/g, '…')
    .replace(/\S+@\S+/g, '…')
    .replace(/[\w:./#-]*\d[\w:./#-]*/g, (word, at: number, text: string) =>
      /^[45]\d\d[.:]?$/.test(word) && SAYS_STATUS.test(text.slice(0, at)) ? word : '#',
    )
    .trim()
}

/** What stands before a status, and not before the 450th order: the beginning, punctuation, or a word of answers. */
const SAYS_STATUS =
  /(?:^|[:(=,]|\b(?:http|https|status|code|answer|answered|returned|response|responded|with|got))\s*$/i

/** Groups, the largest first. */
export function groupDeadLetters(items: readonly DeadItem[]): readonly DeadGroup[] {
  const groups = new Map<string, DeadGroup>()
  for (const { handler, reason, since, id } of items) {
    const failure = failureKind(reason)
    const name = JSON.stringify([handler, failure])
    const known = groups.get(name)
    if (known === undefined) {
      groups.set(name, { handler, failure, count: 1, firstSince: since, lastSince: since, example: id })
      continue
    }
    const first = since < known.firstSince
    groups.set(name, {
      ...known,
      count: known.count + 1,
      firstSince: first ? since : known.firstSince,
      lastSince: Math.max(since, known.lastSince),
      example: first ? id : known.example,
    })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || a.firstSince - b.firstSince)
}
