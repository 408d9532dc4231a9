/** List prices of us-east-1 in late 2026, in dollars, without free tiers. */
export const PRICES = {
  /** DynamoDB on demand, Standard: a million write and read request units. */
  writeUnits: 0.625,
  readUnits: 0.125,
  /** DynamoDB storage: a GB for a month; an item has 100 bytes more than it holds. */
  storedGbMonth: 0.25,
  /** SQS FIFO: a million requests of up to 64 KB. */
  sqsRequests: 0.5,
  /** EventBridge Pipes: a million requests of up to 64 KB, after the filter. */
  pipesRequests: 0.4,
  /** EventBridge Scheduler: a million invocations. */
  scheduled: 1,
  /** Lambda: a million invocations, and a GB-second on arm64. */
  invocations: 0.2,
  gbSecond: 0.0000133334,
  /** CloudWatch: a custom metric for a month, a GB of logs. */
  metricMonth: 0.3,
  logsGb: 0.5,
} as const
