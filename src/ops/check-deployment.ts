import { METRICS } from '../telemetry.ts'
import { checkFunctions } from './check-functions.ts'
import { checkQueueMapping, checkRelayMapping } from './check-mappings.ts'
import { checkQueues } from './check-queues.ts'
import { checkLedgerTable, checkOutboxTable } from './check-tables.ts'
import type { Deployment, Finding } from './deployment.ts'

/** Compares what is deployed with what this version needs. Pure. Errors first; nothing found: all is as it should be. */
export function checkDeployment(deployment: Deployment): readonly Finding[] {
  const { names, outboxTable, consumers } = deployment
  const findings = [
    ...checkOutboxTable(names.outboxTable, outboxTable),
    ...checkRelayMapping(deployment),
    ...checkFunctions(deployment),
    ...consumers.flatMap((consumer) => [
      ...checkQueues(consumer),
      ...checkQueueMapping(consumer.name, consumer.queue?.arn, consumer.mappings),
      ...checkLedgerTable(consumer.ledgerName, consumer.ledger),
    ]),
    ...checkAlarms(deployment),
  ]
  return findings.sort((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
}

/** The alarms without which a fault goes unseen. */
function checkAlarms({ names, consumers, alarms }: Deployment): readonly Finding[] {
  const has = (metric: string, of: string): boolean =>
    alarms.some((alarm) => alarm.metric === metric && alarm.of.includes(of))
  const wanted = [
    { metric: METRICS.oldestPendingMs.name, of: names.outboxTable, unseen: 'events that are not delivered' },
    { metric: METRICS.deadRowsTotal.name, of: names.outboxTable, unseen: 'dead rows' },
    { metric: METRICS.pendingRows.name, of: names.outboxTable, unseen: 'a sweeper that does not run' },
    ...consumers.map(({ deadLetterQueueUrl }) => ({
      metric: 'ApproximateNumberOfMessagesVisible',
      of: deadLetterQueueUrl.split('/').at(-1) ?? '',
      unseen: 'dead letters',
    })),
  ]
  return wanted
    .filter(({ metric, of }) => !has(metric, of))
    .map(({ metric, of, unseen }) => ({
      severity: 'warning',
      resource: `alarm on ${metric} of ${of}`,
      wrong: 'is not there',
      effect: `Nobody is told of ${unseen}.`,
      property: 'alarms (leave it out, or give it a topic)',
      command: `aws cloudwatch describe-alarms; deploy the stack with alarms, or make one on ${metric}`,
    }))
}
