import { Logger } from '@aws-lambda-powertools/logger'
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import { Metrics } from '@aws-lambda-powertools/metrics'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { METRICS_NAMESPACE, metricDimensions, type Telemetry } from '../../src/telemetry.ts'
import { createTally } from './tally.ts'

export type Instruments = {
  readonly logger: Logger
  readonly telemetry: Telemetry
  /** Makes a Lambda handler that logs with the request's id, and writes its metrics when it ends, failed or not. */
  readonly instrument: <Event, Result>(
    handle: (event: Event, context: Context) => Promise<Result>,
  ) => (event: Event, context: Context) => Promise<Result>
}

/** Powertools' logger and metrics (EMF lines in the log), with the namespace and the dimensions that the alarms expect. */
export function createInstruments(service: string, tableName: string): Instruments {
  const logger = new Logger({ serviceName: service })
  const { service: serviceName, ...defaultDimensions } = metricDimensions(service, tableName)
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName, defaultDimensions, logger })
  const tally = createTally()
  const flush = (): void => {
    for (const { name, unit, value } of tally.drain()) metrics.addMetric(name, unit, value)
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics()
  }
  return {
    logger,
    telemetry: tally,
    // No early end: middy would answer while the handler still runs, and a thawed process would run on beside the next.
    instrument: <Event, Result>(handle: (event: Event, context: Context) => Promise<Result>) =>
      middy<Event, Result>(handle, { timeoutEarlyInMillis: 0 })
        .use(injectLambdaContext(logger))
        .after(flush)
        .onError(flush),
  }
}
