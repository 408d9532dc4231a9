import { Duration, Lazy, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { relayEnvironment, VARIABLES } from '../src/settings.ts'
import { OUTBOX_TABLE } from '../src/tables.ts'
import { createAlarms } from './alarms.ts'
import { createBundledFunction } from './bundled-function.ts'
import type { ConsumerAlarmOptions } from './consumer-alarms.ts'
import { given } from './given.ts'
import { ACTIONS, grantOnEventBus, grantOnTable, grantSend } from './grants.ts'
import { type OutboxAlarmOptions, outboxAlarms } from './outbox-alarms.ts'
import { ImportedOutbox, OutboxBase } from './outbox-base.ts'
import { OutboxConsumer, type OutboxConsumerProps } from './outbox-consumer.ts'
import { OutboxDashboard } from './outbox-dashboard.ts'
import {
  destinationsOf,
  estimatedBytes,
  isElsewhere,
  known,
  type OutboxRoute,
  routeSetting,
  routesFacts,
} from './routes.ts'
import { brokenRules, checkRules, OUTBOX_RULES, ROUTES_RULES } from './rules.ts'
import { createStreamMapping } from './stream-mapping.ts'
import { createSweepSchedule } from './sweep-schedule.ts'
import { writeSystemParameter } from './system-parameter.ts'
import { createTable } from './tables.ts'

export type TransactionalOutboxProps = {
  /** Which rows go where. @default - none yet; add some with `addRoute` or `addConsumer`, since without one nothing is sent */
  readonly routes?: readonly OutboxRoute[]
  /** A table with the shape of `OUTBOX_TABLE`, with its stream; in this account and Region. @default - a table is created, with point-in-time recovery, deletion protection, and kept when the stack is deleted */
  readonly table?: ITable
  /** A name for the table, which then cannot be replaced without renaming it. @default - made by CloudFormation */
  readonly tableName?: string
  /** A key of yours for table and logs, in a stack whose Region is known; a given table's own key is used with it. @default - DynamoDB's and CloudWatch's own keys encrypt them */
  readonly encryptionKey?: IKey
  /** What happens to table and logs when they leave the stack. DESTROY also lifts deletion protection. @default - RETAIN: they stay */
  readonly removalPolicy?: RemovalPolicy
  /** How long a relayed row is kept, as proof against a second enqueue: 1 to 365 days. @default - 7 days */
  readonly keepRelayed?: Duration
  /** Regions that are lost and whose rows are sent from here; none of them may run a relay. @default - rows of this Region only */
  readonly takeOverRegions?: readonly string[]
  /** A network for both functions, which then need endpoints for DynamoDB, SQS and EventBridge there. @default - no network */
  readonly vpc?: IVpc
  /** @default - the private subnets of `vpc` */
  readonly vpcSubnets?: SubnetSelection
  /** @default - one is created for each function, if there is a `vpc` */
  readonly securityGroups?: ISecurityGroup[]
  /** A role for both functions; it gets the permissions that it needs, unless it is imported as immutable. @default - each function has a role of its own */
  readonly role?: IRole
  /** @default - logs are kept for three months */
  readonly logRetention?: RetentionDays
  /** @default - every alarm is created, and nobody is told; `false` creates none */
  readonly alarms?: OutboxAlarmOptions | false
  /** @default - true: a dashboard shows the flow */
  readonly dashboard?: boolean
}

/** A consumer in the stack of its outbox, and the rows that go to it. */
export type AddConsumerProps = Omit<OutboxConsumerProps, 'outbox'> & {
  /** @default - rows of every source */
  readonly source?: string | readonly string[]
  /** @default - rows of every type */
  readonly type?: string | readonly string[]
  /** Whether its handlers emit follow-up events. @default - false: the function may not write to the outbox */
  readonly emitsEvents?: boolean
}

/** The most that `createRelay` uses: two minutes after they were written, rows are the sweeper's too. */
const RELAY_TIMEOUT = Duration.minutes(2)
/** Under its schedule's minute, so that two seldom run at once; that would be safe, but of no use. */
const SWEEPER_TIMEOUT = Duration.seconds(55)

/**
 * The outbox table, the relay on its stream, and the sweeper that finds what the stream path missed. Throws
 * `INVALID_SETTING` for a combination that does not work; what depends on all routes is checked at synthesis.
 */
export class TransactionalOutbox extends OutboxBase {
  readonly table: ITable
  readonly relay: LambdaFunction
  readonly sweeper: LambdaFunction
  readonly mapping: EventSourceMapping
  readonly dashboard: OutboxDashboard | undefined
  private readonly props: TransactionalOutboxProps
  private readonly routes: OutboxRoute[] = []

  /**
   * An outbox that is deployed elsewhere, for those who enqueue into it or look at it. `table` may be imported by its name
   * or ARN; import it with its `encryptionKey` if it has one of the customer's.
   */
  static fromOutboxAttributes(scope: Construct, id: string, attributes: { readonly table: ITable }): OutboxBase {
    return new ImportedOutbox(scope, id, attributes.table)
  }

  constructor(scope: Construct, id: string, props: TransactionalOutboxProps = {}) {
    super(scope, id)
    this.props = props
    const { removalPolicy = RemovalPolicy.RETAIN, encryptionKey, tableName } = props
    check(this, props)
    this.table = props.table ?? createTable(this, 'Table', OUTBOX_TABLE, { removalPolicy, encryptionKey, tableName })
    this.relay = this.createFunction('Relay', RELAY_TIMEOUT)
    this.sweeper = this.createFunction('Sweeper', SWEEPER_TIMEOUT)
    // One that fails is not repeated either: the next run is less than a minute away.
    this.sweeper.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) })
    const { takeOverRegions = [], alarms = {} } = props
    const { relay, sweeper, table } = this
    const streamArn = table.tableStreamArn ?? ''
    this.mapping = createStreamMapping(this, 'RelayMapping', { table, streamArn, target: relay, takeOverRegions })
    const { scheduleName } = createSweepSchedule(this, 'SweeperSchedule', sweeper)
    const watched = { outbox: this, relay, sweeper, mapping: this.mapping, scheduleName }
    if (alarms !== false) createAlarms(new Construct(this, 'Alarms'), outboxAlarms(watched, alarms), alarms.topic)
    if (props.dashboard !== false) this.dashboard = new OutboxDashboard(this, 'Dashboard', watched)
    writeSystemParameter(this, {
      kind: 'outbox',
      outboxTable: table.tableName,
      relay: relay.functionName,
      sweeper: sweeper.functionName,
    })
    for (const route of props.routes ?? []) this.addRoute(route)
    this.node.addValidation({ validate: () => this.brokenRules() })
  }

  /** Sends more rows somewhere. The functions get `sqs:SendMessage`, or `events:PutEvents` and `DescribeEventBus`, there. */
  addRoute(route: OutboxRoute): void {
    this.routes.push(route)
    for (const destination of destinationsOf(route)) {
      for (const sender of [this.relay, this.sweeper]) {
        if ('queue' in destination) grantSend(destination.queue, sender)
        else grantOnEventBus(destination.eventBus, sender)
      }
    }
  }

  /**
   * Creates a consumer beside the outbox and a route to it, named `id`: never change it. Key, removal policy and the alarms'
   * topic are the outbox's unless given.
   */
  addConsumer(id: string, { source, type, emitsEvents, handler, ...props }: AddConsumerProps): OutboxConsumer {
    const { encryptionKey, removalPolicy } = this.props
    const consumer = new OutboxConsumer(this, id, {
      handler,
      ...given({ encryptionKey, removalPolicy }),
      ...given(props),
      alarms: this.consumerAlarms(props.alarms),
      ...(emitsEvents ? { outbox: this } : {}),
    })
    this.addRoute({ ...given({ source, type }), to: { name: id, queue: consumer.queue } })
    this.dashboard?.addConsumer(consumer)
    return consumer
  }

  /** Those given, and the outbox's topic if none is named; none at all if the outbox has none and none are given. */
  private consumerAlarms(own: OutboxConsumerProps['alarms']): ConsumerAlarmOptions | false {
    const { alarms = {} } = this.props
    if (own === false || (own === undefined && alarms === false)) return false
    const topic = own?.topic ?? (alarms === false ? undefined : alarms.topic)
    return { ...own, ...given({ topic }) }
  }

  private createFunction(id: 'Relay' | 'Sweeper', timeout: Duration): LambdaFunction {
    const { table, props } = this
    const created = createBundledFunction(this, id, {
      bundle: id === 'Relay' ? 'relay' : 'sweeper',
      description:
        id === 'Relay'
          ? 'Sends the events of an outbox as its stream tells of them'
          : 'Sends the events of an outbox that the stream path left',
      timeout,
      environment: { ...this.environment(), [VARIABLES.routes]: Lazy.string({ produce: () => this.routesText() }) },
      logRetention: props.logRetention ?? RetentionDays.THREE_MONTHS,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
      encryptionKey: props.encryptionKey,
      role: props.role,
      vpc: props.vpc,
      vpcSubnets: props.vpcSubnets,
      securityGroups: props.securityGroups,
    })
    grantOnTable(table, created, { actions: ACTIONS.relay, index: ACTIONS.index, key: ACTIONS.writeKey })
    return created
  }

  private environment(): Record<string, string> {
    const { keepRelayed, takeOverRegions } = this.props
    const keepRelayedSeconds = keepRelayed?.toSeconds()
    const routes = this.routes.map(routeSetting)
    return relayEnvironment({
      tableName: this.table.tableName,
      routes,
      ...given({ takeOverRegions, keepRelayedSeconds }),
    })
  }

  private routesText(): string {
    return JSON.stringify(this.routes.map(routeSetting))
  }

  private brokenRules(): string[] {
    const stack = Stack.of(this)
    const values = Object.entries(this.environment()).flat()
    const environmentBytes = values.reduce((sum, text) => sum + estimatedBytes(stack.resolve(text)), 0)
    const facts = { routes: routesFacts(this.routes), region: known(stack.region), environmentBytes }
    return [...brokenRules(facts, ROUTES_RULES)]
  }
}

function check(scope: TransactionalOutbox, props: TransactionalOutboxProps): void {
  const { table, keepRelayed, takeOverRegions = [] } = props
  checkRules(
    scope,
    {
      tableGiven: table !== undefined,
      keyGiven: props.encryptionKey !== undefined,
      streamKnown: table?.tableStreamArn !== undefined,
      tableSettings: props.tableName === undefined ? [] : ['tableName'],
      keepRelayedSeconds: keepRelayed?.toSeconds(),
      region: known(Stack.of(scope).region),
      takeOverRegions,
      elsewhere: table !== undefined && isElsewhere(table, Stack.of(scope)),
    },
    OUTBOX_RULES,
  )
}
