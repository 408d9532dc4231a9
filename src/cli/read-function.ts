import {
  type EventSourceMappingConfiguration,
  GetFunctionConfigurationCommand,
  type LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import type { FunctionFacts, MappingFacts } from '../ops/deployment.ts'
import { VARIABLES } from '../settings.ts'
import { whenThere } from './when-there.ts'

/** Undefined if there is no such function. Of its environment only the variables of ours are kept. */
export function readFunction(client: LambdaClient, FunctionName: string): Promise<FunctionFacts | undefined> {
  return whenThere(async () => {
    const command = new GetFunctionConfigurationCommand({ FunctionName })
    const { FunctionArn = '', Runtime = '', Timeout = 3, Environment } = await client.send(command)
    const variables = Environment?.Variables ?? {}
    return {
      name: FunctionName,
      arn: FunctionArn,
      runtime: Runtime,
      timeoutSeconds: Timeout,
      environment: Object.fromEntries(Object.values(VARIABLES).map((name) => [name, variables[name]])),
    }
  })
}

/** What feeds a function; empty if there is no such function. */
export async function readMappings(client: LambdaClient, FunctionName: string): Promise<readonly MappingFacts[]> {
  const mappings: MappingFacts[] = []
  let Marker: string | undefined
  do {
    const command = new ListEventSourceMappingsCommand({ FunctionName, ...(Marker === undefined ? {} : { Marker }) })
    const page = await whenThere(() => client.send(command))
    mappings.push(...(page?.EventSourceMappings ?? []).map(mappingOf))
    Marker = page?.NextMarker
  } while (Marker)
  return mappings
}

function mappingOf(mapping: EventSourceMappingConfiguration): MappingFacts {
  return {
    id: mapping.UUID ?? '',
    sourceArn: mapping.EventSourceArn ?? '',
    state: mapping.State ?? '',
    startingPosition: mapping.StartingPosition,
    reportsFailures: mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    bisects: mapping.BisectBatchOnFunctionError ?? false,
    retries: mapping.MaximumRetryAttempts,
    maxAgeSeconds: mapping.MaximumRecordAgeInSeconds,
    filters: (mapping.FilterCriteria?.Filters ?? []).flatMap(({ Pattern }) => (Pattern === undefined ? [] : [Pattern])),
  }
}
