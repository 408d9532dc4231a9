/** How likely each kind of fault is for one request that it may befall, 0 to 1. */
export type RequestRates = {
  /** The connection breaks, and the request was never applied. */
  readonly dropped: number
  /** It was applied, and the connection broke before the answer. */
  readonly answerLost: number
  /** The connection breaks, and the request is applied some seconds later: it had waited in a network or a queue. */
  readonly late: number
  readonly delayed: number
  /** Applied twice, as by a retry below the SDK, and answered with either answer. */
  readonly duplicated: number
  readonly throttled: number
  /** 500 or 503; of a write nobody knows whether it was applied, and here it is or is not. */
  readonly serverError: number
  /** A batch, read or transaction answered in part, in each way its operation knows. */
  readonly partial: number
  /** A transaction that stays in progress for a while after it was applied: torn queries and conflicts. */
  readonly inProgress: number
  /** An index that lags: a query of it answered as it was answered some time ago. */
  readonly staleIndex: number
  /** A read that asks for no consistency and misses what was inserted just now. */
  readonly staleRead: number
}

/** How many outages and denials begin in a minute of the rig's clock. */
export type WeatherRates = {
  /** An engine that does not answer for seconds; one of the two. */
  readonly outages: number
  /** A role that is denied one operation, or all, for seconds. */
  readonly denials: number
  /** For which share of the time some groups of FIFO queues are congested: 0 to 1. */
  readonly congestion: number
}

export type FaultRates = RequestRates & WeatherRates

export const CALM: FaultRates = {
  dropped: 0,
  answerLost: 0,
  late: 0,
  delayed: 0,
  duplicated: 0,
  throttled: 0,
  serverError: 0,
  partial: 0,
  inProgress: 0,
  staleIndex: 0,
  staleRead: 0,
  outages: 0,
  denials: 0,
  congestion: 0,
}

/** Each kind often enough to meet every operation within a minute, and rare enough that work gets done. */
export const STORMY: FaultRates = {
  dropped: 0.006,
  answerLost: 0.008,
  late: 0.005,
  delayed: 0.012,
  duplicated: 0.008,
  throttled: 0.008,
  serverError: 0.006,
  partial: 0.03,
  inProgress: 0.08,
  staleIndex: 0.1,
  staleRead: 0.3,
  outages: 0.4,
  denials: 0.6,
  congestion: 0.4,
}
