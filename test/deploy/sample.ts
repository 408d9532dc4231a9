import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Order } from '../../functions/sample/place-order.ts'
import { documentedCommand, type } from './documented.ts'
import { ROOT } from './root.ts'

/** The sample, deployed by the commands of the README, and what the steps need of its outputs. */
export type Sample = {
  readonly stack: string
  readonly bootstrap: () => Promise<void>
  readonly deploy: () => Promise<void>
  /** Deploys it again with another setting. */
  readonly deployChanged: (context: string) => Promise<void>
  /** Places the README's order: by its own command (`typed`), or without a fitting AWS CLI by `place`. */
  readonly placeDocumented: (place: (order: Order) => Promise<unknown>) => Promise<Order & { readonly typed: boolean }>
  readonly destroy: () => Promise<void>
  /** Throws before the first deployment. */
  readonly outputs: () => SampleOutputs
  /** Takes away the files that the commands leave. */
  readonly close: () => Promise<void>
}

export type SampleOutputs = {
  readonly placeOrderFunction: string
  readonly relayFunction: string
  readonly relayMappingId: string
  readonly sweeperFunction: string
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
  sweeperFunction: 'Sweeper',
  shopTable: 'ShopTable',
  outboxTable: 'OutboxTable',
  ledgerTable: 'OrdersLedger',
  queueUrl: 'OrdersQueue',
  deadLetterQueueUrl: 'OrdersDeadLetterQueue',
} as const satisfies Record<keyof SampleOutputs, string>

const STACK = 'OutboxSample'
const OUTPUTS = join(ROOT, 'outputs.json')
const ORDER = join(ROOT, 'order.json')
const LEFT_BEHIND = [OUTPUTS, ORDER, join(ROOT, 'answer.json')]

/** `folder`: of the run. */
export function createSample(folder: string): Sample {
  let given: SampleOutputs | undefined
  const typeDocumented = async (start: string): Promise<void> => {
    await type(await documentedCommand(start), folder)
  }
  return {
    stack: STACK,
    bootstrap: () => typeDocumented('npx cdk bootstrap'),
    deploy: async () => {
      await typeDocumented('npx cdk deploy')
      given = readOutputs(await readFile(OUTPUTS, 'utf8'))
    },
    deployChanged: async (context) => {
      await type(`npx cdk deploy -c ${context}`, folder)
    },
    placeDocumented: async (place) => {
      await typeDocumented("echo '")
      const order = JSON.parse(await readFile(ORDER, 'utf8')) as Order
      const invoke = await documentedCommand('aws lambda invoke')
      const typed = await hasAwsCli(folder)
      if (typed) await type(invoke, folder)
      else await place(order)
      return { ...order, typed }
    },
    destroy: () => typeDocumented('npx cdk destroy'),
    outputs: () => {
      if (given === undefined) throw new Error(`${STACK} is not deployed`)
      return given
    },
    close: async () => {
      for (const file of LEFT_BEHIND) await rm(file, { force: true })
    },
  }
}

/** The first that heed AWS_ENDPOINT_URL. */
const FIRST_FITTING: Readonly<Record<string, number>> = { 1: 29, 2: 13 }

async function hasAwsCli(folder: string): Promise<boolean> {
  const text = await type('aws --version', folder).catch(() => '')
  const [, major = '', minor = ''] = /^aws-cli\/(\d+)\.(\d+)/m.exec(text) ?? []
  return Number(minor) >= (FIRST_FITTING[major] ?? Number.POSITIVE_INFINITY)
}

function readOutputs(text: string): SampleOutputs {
  const outputs = (JSON.parse(text) as Record<string, Record<string, string>>)[STACK] ?? {}
  const entries = Object.entries(NAMES).map(([name, output]) => {
    const value = outputs[output]
    if (!value) throw new Error(`the stack has no output ${output}`)
    return [name, value]
  })
  return Object.fromEntries(entries) as SampleOutputs
}
