import assert from 'node:assert/strict'
import { DescribeAlarmsCommand, GetDashboardCommand } from '@aws-sdk/client-cloudwatch'
import type { Sample } from '../sample.ts'
import { resourcesOf } from '../stack-resources.ts'
import type { Step } from '../step.ts'
import type { World } from '../world.ts'

export const watched = (sample: Sample): Step => ({
  title: 'every alarm and the dashboard are there',
  differs: {
    how: 'it makes no metrics of log lines, so no alarm changes its state',
    tests: ['test/cdk/alarms.test.ts', 'test/functions/runtime/instruments.test.ts'],
  },
  run: async (world) => {
    const resources = await resourcesOf(sample.stack)
    const alarms = resources.filter(({ type }) => type === 'AWS::CloudWatch::Alarm').map(({ id }) => id)
    const dashboards = resources.filter(({ type }) => type === 'AWS::CloudWatch::Dashboard').map(({ id }) => id)
    assert(alarms.length > 0 && dashboards.length > 0, 'the stack has alarms and a dashboard')
    const described = await describeAlarms(world, alarms)
    assert.deepEqual(new Set(described.keys()), new Set(alarms))
    for (const [name, text] of described)
      assert(text.length > 40, `${name} says what it means and what to do: "${text}"`)
    for (const DashboardName of dashboards) {
      const { DashboardBody } = await world.cloudWatch.send(new GetDashboardCommand({ DashboardName }))
      assert(JSON.parse(DashboardBody ?? '{}').widgets.length > 0, 'the dashboard has widgets')
    }
    return `${alarms.length} alarms`
  },
})

/** Descriptions by name. */
async function describeAlarms({ cloudWatch }: World, names: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let n = 0; n < names.length; n += 50) {
    const command = new DescribeAlarmsCommand({ AlarmNames: names.slice(n, n + 50), MaxRecords: 100 })
    const { MetricAlarms = [] } = await cloudWatch.send(command)
    for (const { AlarmName = '', AlarmDescription = '' } of MetricAlarms) found.set(AlarmName, AlarmDescription)
  }
  return found
}
