import { deploy, destroy, type Outputs, ROOT } from './cdk.ts'

/** The sample as `npx cdk deploy` brings it, and what the steps need of its outputs. */
export type Sample = {
  readonly stack: string
  /** Deploys it, or deploys it again with other settings. */
  readonly deploy: (context?: Readonly<Record<string, string>>) => Promise<void>
  /** Throws before the first deployment. */
  readonly outputs: () => SampleOutputs
  readonly destroy: () => Promise<void>
}

export type SampleOutputs = {
  readonly placeOrderFunction: string
  readonly relayFunction: string
  readonly relayMappingId: string
  readonly shopTable: string
  readonly outboxTable: string
  /** Of the orders' consumer. */
  readonly ledgerTable: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
}

const NAMES = {
  placeOrderFunction: 'PlaceOrder',
  relayFunction: 'Relay',
  relayMappingId: 'RelayMapping',
  shopTable: 'ShopTable',
  outboxTable: 'OutboxTable',
  ledgerTable: 'OrdersLedger',
  queueUrl: 'OrdersQueue',
  deadLetterQueueUrl: 'OrdersDeadLetterQueue',
} as const satisfies Record<keyof SampleOutputs, string>

const STACK = 'OutboxSample'

/** `folder`: of the run, for the CDK's output. */
export function createSample(folder: string): Sample {
  const app = { cwd: ROOT, folder, stack: STACK }
  let given: SampleOutputs | undefined
  return {
    stack: STACK,
    deploy: async (context = {}) => {
      given = readOutputs(await deploy({ ...app, context }))
    },
    outputs: () => {
      if (given === undefined) throw new Error(`${STACK} is not deployed`)
      return given
    },
    destroy: () => destroy(app),
  }
}

function readOutputs(outputs: Outputs): SampleOutputs {
  const entries = Object.entries(NAMES).map(([name, output]) => {
    const value = outputs[output]
    if (!value) throw new Error(`the stack has no output ${output}`)
    return [name, value]
  })
  return Object.fromEntries(entries) as SampleOutputs
}
