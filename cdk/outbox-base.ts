import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { type MetricKey, OUTBOX_SERVICE } from '../src/telemetry.ts'
import { ACTIONS, grantOnTable } from './grants.ts'
import { ownMetric } from './metrics.ts'

/** An outbox of this app, or one that is deployed elsewhere. */
export type ITransactionalOutbox = Construct & {
  readonly table: ITable
  /** `dynamodb:GetItem`, `PutItem`, `Query`: to commit events in one's own transactions. In the table's account. */
  readonly grantEnqueue: (grantee: IGrantable) => Grant
  /** `dynamodb:GetItem`, `BatchGetItem`, `Query`, `Scan` and `DescribeTable` on the table, `Query` on its index: to look at rows. */
  readonly grantRead: (grantee: IGrantable) => Grant
  /** What `grantRead` names, and `dynamodb:UpdateItem`: to redrive, discard and forget rows. */
  readonly grantOperate: (grantee: IGrantable) => Grant
  /** Any metric of relay and sweeper. */
  readonly metric: (key: MetricKey, options?: MetricOptions) => Metric
}

/** Grants and metrics, which need the table only. A customer's key on it is granted with each. */
export abstract class OutboxBase extends Construct implements ITransactionalOutbox {
  abstract readonly table: ITable

  grantEnqueue(grantee: IGrantable): Grant {
    return grantOnTable(this.table, grantee, { actions: ACTIONS.enqueue, key: ACTIONS.writeKey })
  }

  grantRead(grantee: IGrantable): Grant {
    return grantOnTable(this.table, grantee, { actions: ACTIONS.read, index: ACTIONS.index, key: ACTIONS.readKey })
  }

  grantOperate(grantee: IGrantable): Grant {
    return grantOnTable(this.table, grantee, { actions: ACTIONS.operate, index: ACTIONS.index, key: ACTIONS.writeKey })
  }

  metric(key: MetricKey, options?: MetricOptions): Metric {
    return ownMetric({ service: OUTBOX_SERVICE, tableName: this.table.tableName }, key, options)
  }

  /** Age of the oldest pending row by its creation, milliseconds. Given each minute. */
  metricOldestPending(options?: MetricOptions): Metric {
    return this.metric('oldestPendingMs', options)
  }

  /** Rows pending, at most 500 a shard. Given each minute. */
  metricPending(options?: MetricOptions): Metric {
    return this.metric('pendingRows', options)
  }

  /** Rows dead, given each 15 minutes. */
  metricDead(options?: MetricOptions): Metric {
    return this.metric('deadRowsTotal', options)
  }

  /** Rows that every destination took. */
  metricRelayed(options?: MetricOptions): Metric {
    return this.metric('relayed', options)
  }
}

/** An outbox that is deployed elsewhere, by its table. */
export class ImportedOutbox extends OutboxBase {
  readonly table: ITable

  constructor(scope: Construct, id: string, table: ITable) {
    super(scope, id)
    this.table = table
  }
}
