import { type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { EventSourceMapping, type IFunction, MetricType } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { consumerEnvironment } from '../src/settings.ts'
import { LEDGER_TABLE } from '../src/tables.ts'
import type { MetricKey } from '../src/telemetry.ts'
import { createAlarms } from './alarms.ts'
import { type ConsumerAlarmOptions, consumerAlarms } from './consumer-alarms.ts'
import { registerConsumer, setEnvironment, timeoutOf, visibilityFor } from './consumer-function.ts'
import { createQueues, LONGEST_RETENTION } from './consumer-queue.ts'
import { given } from './given.ts'
import { ACTIONS, grantOnQueue, grantOnTable, grantSend } from './grants.ts'
import { ownMetric } from './metrics.ts'
import type { ITransactionalOutbox } from './outbox-base.ts'
import { isElsewhere, known } from './routes.ts'
import { CONSUMER_RULES, checkRules } from './rules.ts'
import { writeSystemParameter } from './system-parameter.ts'
import { createTable } from './tables.ts'

export type OutboxConsumerProps = {
  /**
   * Runs the handlers (`createConsumer`). One function for one consumer, in the consumer's stack. A function of this app
   * gets `QUEUE_URL`, `DEAD_LETTER_QUEUE_URL`, `LEDGER_TABLE` and, with `outbox`, `OUTBOX_TABLE`; for an imported
   * function, a version or an alias set them yourself (see `environment`).
   */
  readonly handler: IFunction
  /** Where its handlers emit follow-up events, in this account and Region. @default - they emit none */
  readonly outbox?: ITransactionalOutbox
  /**
   * Whether events arrive in the order of their group. `false` makes a standard queue, the one that a rule of EventBridge
   * can feed without losing parallelism. @default - true, or what a given queue is
   */
  readonly fifo?: boolean
  /** A name that others can refer to, from another account or before this stack exists; ends in `.fifo` for FIFO. @default - made by CloudFormation */
  readonly queueName?: string
  /** A queue of your own, together with `deadLetterQueue`. @default - a queue is created, kept when the stack is deleted */
  readonly queue?: IQueue
  /** Of the queue's kind. @default - a queue is created that keeps dead letters for 14 days */
  readonly deadLetterQueue?: IQueue
  /** A table with the keys of `LEDGER_TABLE`, in this account and Region. @default - a table is created, with point-in-time recovery, deletion protection, and kept when the stack is deleted */
  readonly ledgerTable?: ITable
  /** How long a done event is remembered, in whole days: the `keepDays` of `createLedger`. @default - 30 days, as `createLedger` has it */
  readonly ledgerRetention?: Duration
  /** How long the queue keeps a message that is not handled. @default - 14 days, SQS's most */
  readonly retentionPeriod?: Duration
  /** How long a message is hidden if the function could not even start. @default - six times the function's timeout (of an unknown one: 15 minutes), and at least 15 minutes */
  readonly visibilityTimeout?: Duration
  /** Batches of this consumer handled at once, 2–1000. @default - as many as there are groups, up to the account's concurrency */
  readonly maxConcurrency?: number
  /** Messages handed over at once, 1–10. @default - 10 */
  readonly batchSize?: number
  /** A key of yours for what is created, in a stack whose Region is known: queue, dead-letter queue and ledger. @default - SQS's and DynamoDB's own keys encrypt them */
  readonly encryptionKey?: IKey
  /** What happens to queue, dead-letter queue and ledger when they leave the stack. DESTROY also lifts deletion protection. @default - RETAIN: they stay */
  readonly removalPolicy?: RemovalPolicy
  /** The `name` of `createConsumer`, under which its own metrics are. @default - the dashboard shows the metrics of AWS only, and the command calls it by the construct's id */
  readonly consumerName?: string
  /** @default - every alarm is created, and nobody is told; `false` creates none */
  readonly alarms?: ConsumerAlarmOptions | false
}

/**
 * A queue with its dead-letter queue, a ledger, and the mapping that feeds a function of yours. In the stack of its outbox,
 * in another one, or in another account. Throws `INVALID_SETTING` for a combination that does not work.
 */
export class OutboxConsumer extends Construct {
  readonly queue: IQueue
  readonly deadLetterQueue: IQueue
  readonly ledgerTable: ITable
  readonly handler: IFunction
  readonly mapping: EventSourceMapping
  /** The variables that the function needs. */
  readonly environment: Readonly<Record<string, string>>
  readonly consumerName: string | undefined

  constructor(scope: Construct, id: string, props: OutboxConsumerProps) {
    super(scope, id)
    const { handler, outbox, removalPolicy = RemovalPolicy.RETAIN, encryptionKey } = props
    check(this, props)
    this.handler = handler
    this.consumerName = props.consumerName
    const { queue, deadLetterQueue } = this.queues(props, removalPolicy)
    this.queue = queue
    this.deadLetterQueue = deadLetterQueue
    this.ledgerTable =
      props.ledgerTable ??
      createTable(this, 'Ledger', LEDGER_TABLE, { removalPolicy, encryptionKey, tableName: undefined })
    const ledgerKeepDays = props.ledgerRetention?.toDays()
    this.environment = consumerEnvironment({
      ledgerTable: this.ledgerTable.tableName,
      queueUrl: queue.queueUrl,
      deadLetterQueueUrl: deadLetterQueue.queueUrl,
      ...given({ ledgerKeepDays, outboxTable: outbox?.table.tableName }),
    })
    setEnvironment(this, handler, this.environment)
    this.mapping = this.connect(props)
    outbox?.grantEnqueue(handler)
    writeSystemParameter(this, {
      kind: 'consumer',
      name: props.consumerName ?? id,
      handler: handler.functionName,
      ledgerTable: this.ledgerTable.tableName,
      queueUrl: queue.queueUrl,
      deadLetterQueueUrl: deadLetterQueue.queueUrl,
      ...given({ outboxTable: outbox?.table.tableName }),
    })
    const { alarms = {} } = props
    if (alarms !== false) createAlarms(new Construct(this, 'Alarms'), consumerAlarms(this, alarms), alarms.topic)
  }

  /** `sqs:SendMessage` on the queue. Of another account: its principal goes into the queue's policy. */
  grantSend(grantee: IGrantable): Grant {
    return grantSend(this.queue, grantee)
  }

  /**
   * To see, redrive, discard and forget dead letters: `sqs:ReceiveMessage`, `DeleteMessage`, `ChangeMessageVisibility` and
   * `GetQueueAttributes` on the dead-letter queue, `sqs:SendMessage` and `GetQueueAttributes` on the queue, `dynamodb:Query`
   * and `UpdateItem` on the ledger.
   */
  grantOperate(grantee: IGrantable): Grant {
    return grantOnQueue(this.deadLetterQueue, grantee, { actions: ACTIONS.redrive, key: ACTIONS.receiveKey })
      .combine(grantOnQueue(this.queue, grantee, { actions: ACTIONS.depth, key: [] }))
      .combine(grantOnTable(this.ledgerTable, grantee, { actions: ACTIONS.operateLedger, key: ACTIONS.writeKey }))
      .combine(this.grantSend(grantee))
  }

  /** Any metric of the consumer itself, as it counts them under `consumerName`; undefined without that name. */
  metric(key: MetricKey, options?: MetricOptions): Metric | undefined {
    if (this.consumerName === undefined) return undefined
    return ownMetric({ service: this.consumerName, tableName: this.ledgerTable.tableName }, key, options)
  }

  /** Messages in the dead-letter queue. */
  metricDeadLetters(options?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', ...options })
  }

  /** Age of the oldest message in the queue, seconds. */
  metricOldestMessage(options?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', ...options })
  }

  private queues(props: OutboxConsumerProps, removalPolicy: RemovalPolicy) {
    const { queue, deadLetterQueue } = props
    if (queue !== undefined && deadLetterQueue !== undefined) return { queue, deadLetterQueue }
    return createQueues(this, {
      fifo: props.fifo ?? true,
      queueName: props.queueName,
      deadLetterQueue,
      visibilityTimeout: props.visibilityTimeout ?? visibilityFor(props.handler),
      retentionPeriod: props.retentionPeriod ?? LONGEST_RETENTION,
      encryptionKey: props.encryptionKey,
      removalPolicy,
    })
  }

  private connect({ handler, maxConcurrency, batchSize = 10 }: OutboxConsumerProps): EventSourceMapping {
    const mapping = new EventSourceMapping(this, 'Mapping', {
      target: handler,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      reportBatchItemFailures: true,
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
      ...given({ maxConcurrency }),
    })
    // Lambda checks the role's permissions when the mapping is created.
    grantOnQueue(this.queue, handler, { actions: ACTIONS.consume, key: ACTIONS.receiveKey }).applyBefore(mapping)
    grantOnQueue(this.deadLetterQueue, handler, { actions: ACTIONS.send, key: ACTIONS.sendKey })
    grantOnTable(this.ledgerTable, handler, { actions: ACTIONS.ledger, key: ACTIONS.writeKey })
    return mapping
  }
}

const QUEUE_SETTINGS = ['fifo', 'queueName', 'retentionPeriod', 'visibilityTimeout'] as const

function check(scope: OutboxConsumer, props: OutboxConsumerProps): void {
  const { handler, queue, deadLetterQueue, retentionPeriod, visibilityTimeout, ledgerRetention } = props
  const stack = Stack.of(scope)
  const tables = { outbox: props.outbox?.table, ledgerTable: props.ledgerTable }
  const visibility = visibilityTimeout ?? (queue === undefined ? visibilityFor(handler) : undefined)
  checkRules(
    scope,
    {
      tableGiven: props.ledgerTable !== undefined,
      keyGiven: props.encryptionKey !== undefined,
      region: known(stack.region),
      fifo: queue?.fifo ?? props.fifo ?? true,
      queueGiven: queue !== undefined,
      queueSettings: QUEUE_SETTINGS.filter((name) => props[name] !== undefined),
      deadLetterFifo: deadLetterQueue?.fifo,
      visibilitySeconds: visibility?.toSeconds(),
      timeoutSeconds: timeoutOf(handler)?.toSeconds(),
      retentionSeconds: (retentionPeriod ?? LONGEST_RETENTION).toSeconds(),
      deadLetterRetentionSeconds: LONGEST_RETENTION.toSeconds(),
      ledgerDays: ledgerRetention?.toDays({ integral: false }) ?? 30,
      maxConcurrency: props.maxConcurrency,
      batchSize: props.batchSize ?? 10,
      otherConsumer: registerConsumer(scope, handler),
      elsewhere: Object.entries(tables).flatMap(([name, table]) => (table && isElsewhere(table, stack) ? name : [])),
    },
    CONSUMER_RULES,
  )
}
