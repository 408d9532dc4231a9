import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation'

export type StackResource = { readonly logicalId: string; readonly type: string; readonly id: string }

/** What a stack consists of. Throws if there is no such stack. */
export async function resourcesOf(stack: string): Promise<StackResource[]> {
  const client = new CloudFormationClient()
  const found: StackResource[] = []
  let NextToken: string | undefined
  do {
    const page = await client.send(new ListStackResourcesCommand({ StackName: stack, NextToken }))
    for (const one of page.StackResourceSummaries ?? []) {
      const { LogicalResourceId = '', ResourceType = '', PhysicalResourceId = '' } = one
      found.push({ logicalId: LogicalResourceId, type: ResourceType, id: PhysicalResourceId })
    }
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  return found
}
