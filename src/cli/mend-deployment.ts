import { UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { LambdaClient, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda'
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { errorName } from '../errors.ts'
import type { Finding, Fix } from '../ops/deployment.ts'
import type { OutboxSystem } from '../ops/system.ts'

/** `refused`: AWS did not take it; the finding's command is what is left to do by hand. */
export type Mending = { readonly finding: Finding; readonly outcome: 'mended' | 'refused'; readonly reason?: string }

/** Applies every fix there is, one by one, each naming only what it changes. Never throws. */
export async function mendDeployment(system: OutboxSystem, findings: readonly Finding[]): Promise<readonly Mending[]> {
  const mendings: Mending[] = []
  for (const finding of findings) {
    if (finding.fix === undefined) continue
    try {
      await apply(system, finding.fix)
      mendings.push({ finding, outcome: 'mended' })
    } catch (error) {
      mendings.push({ finding, outcome: 'refused', reason: errorName(error) })
    }
  }
  return mendings
}

async function apply({ dynamo, sqs }: OutboxSystem, fix: Fix): Promise<void> {
  switch (fix.kind) {
    case 'time-to-live': {
      const specification = { Enabled: true, AttributeName: fix.attribute }
      await dynamo.send(new UpdateTimeToLiveCommand({ TableName: fix.table, TimeToLiveSpecification: specification }))
      return
    }
    case 'queue':
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: fix.url, Attributes: fix.attributes }))
      return
    case 'mapping': {
      const { FilterCriteria, ...change } = fix.change
      const filters = FilterCriteria === undefined ? {} : { FilterCriteria: { Filters: [...FilterCriteria.Filters] } }
      const lambda = new LambdaClient({ region: await dynamo.config.region() })
      await lambda.send(new UpdateEventSourceMappingCommand({ UUID: fix.id, ...change, ...filters }))
    }
  }
}
