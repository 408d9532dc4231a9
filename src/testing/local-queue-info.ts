export type LocalQueueOptions = {
  /** Default true: `.fifo` is added to the name. */
  readonly fifo?: boolean
  /** Default 900. */
  readonly visibilityTimeoutSeconds?: number
  /** Also create `<name>-dead`, to which messages go after `maxReceiveCount` receives. Default false. */
  readonly deadLetter?: boolean
  /** 1–1000. Default 1000. */
  readonly maxReceiveCount?: number
  /** Any other attribute of `CreateQueue`. */
  readonly attributes?: Readonly<Record<string, string>>
}

export type LocalQueueInfo = {
  readonly name: string
  readonly url: string
  readonly arn: string
  readonly deadLetterUrl?: string
  readonly deadLetterArn?: string
}
