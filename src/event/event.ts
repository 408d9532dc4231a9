/** What a caller enqueues. Either `key` (unordered: parallel with all others) or `group` and `sequence` (ordered within the group). */
export type NewEvent<Data = unknown, Type extends string = string> = {
  /** 1–128 ASCII letters, digits and punctuation, no space and no `/`: the application, tenant or module it comes from. */
  readonly source: string
  /** 1–128 ASCII letters, digits and punctuation, no space: what happened, for example `order.placed`. */
  readonly type: Type
  /** Any JSON value. */
  readonly data: Data
  /** CloudEvents extension attributes: names `[a-z0-9]{1,20}`, none of CloudEvents' own; values are text. */
  readonly headers?: Readonly<Record<string, string>>
  /** When it happened. A date or RFC 3339 text; default: the time of the call. */
  readonly time?: Date | string
} & (Unordered | Ordered)

type Unordered = {
  /** 1–128 ASCII letters, digits and punctuation, no space. Unique within the source while its row is kept. */
  readonly key: string
  readonly group?: never
  readonly sequence?: never
}

type Ordered = {
  /** 1–128 ASCII letters, digits and punctuation, no space: the aggregate whose events keep their order. */
  readonly group: string
  /**
   * `'auto'`: the next number of the group, read and then claimed: about 65 transactions a second on one group. It is
   * never a duplicate: idempotence comes from a keyed event, or a condition of your own, in the same transaction. A number: the aggregate's own version, which **must** be taken under a
   * conditional write on the aggregate in the same transaction.
   */
  readonly sequence: 'auto' | number
  readonly key?: never
}

/** What a handler gets: the CloudEvents attributes, decoded. */
export type Event<Data = unknown, Type extends string = string> = {
  /** Lowercase hex SHA-256 of `source/key`: the idempotency key. */
  readonly id: string
  readonly source: string
  readonly type: Type
  readonly key: string
  readonly group?: string
  readonly sequence?: number
  /** RFC 3339. */
  readonly time: string
  readonly data: Data
  /** Every CloudEvents extension that is not one of ours, `traceparent` included. */
  readonly headers: Readonly<Record<string, string>>
  /** Which round of this event it is: ms since 1970 when its row was created. */
  readonly life: number
}
