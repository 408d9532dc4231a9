import { Duration, Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import type { Construct } from 'constructs'

/**
 * Runs the sweeper each minute. A run that cannot be started is not repeated: the next one is less than a minute away.
 */
export function createSweepSchedule(scope: Construct, id: string, sweeper: IFunction): Schedule {
  const role = new Role(scope, `${id}Role`, {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
    description: 'Starts the sweeper of an outbox each minute',
  })
  role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [sweeper.functionArn] }))
  return new Schedule(scope, id, {
    description: 'Sweeps an outbox for rows that the stream path left',
    schedule: ScheduleExpression.rate(Duration.minutes(1)),
    // A target of its own: the library's grants the role every version and alias (`:*`) too.
    target: {
      bind: () => ({
        arn: sweeper.functionArn,
        role,
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      }),
    },
  })
}
