import { Command } from 'commander'
import { guarded } from './command.ts'
import { type DemoFigures, type DemoKit, runDemo } from './demo.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { count } from './render.ts'
import { createTable } from './render-table.ts'
import { usageError } from './usage-error.ts'

type Options = { readonly orders: string; readonly json?: boolean }

/** `load`: where the engines come from. */
export function demoCommand(io: Io, load: () => Promise<DemoKit> = loadInstalled): Command {
  const summary = 'an outbox under faults on embedded engines: a minute, no AWS account'
  const command = new Command('demo')
    .summary(summary)
    .description(summary)
    .option('--orders <number>', 'orders to place, 20–20000', '300')
    .option('--json', 'print one JSON document instead of text')
    .addHelpText('after', '\nExamples:\n  $ dynamodb-outbox demo\n  $ dynamodb-outbox demo --orders 2000\n')
  return command.action(async ({ orders, json }: Options) => {
    io.finish(
      await guarded(io, async () => {
        const amount = Number(orders)
        if (!Number.isSafeInteger(amount) || amount < 20 || amount > 20_000)
          throw usageError('--orders must be a whole number from 20 to 20000.')
        const figures = await runDemo(await load(), { orders: amount, say: (text) => io.err(`${text}\n`) })
        if (json) printJson(io, figures)
        else io.out(renderDemo(figures))
        return isWhole(figures) ? EXIT.ok : EXIT.incomplete
      }),
    )
  })
}

export function isWhole({ orders, handled, lost, doubled, outOfOrder, deadLettered, redriven }: DemoFigures): boolean {
  return handled === orders && lost + doubled + outOfOrder === 0 && deadLettered === 1 && redriven === 1
}

export function renderDemo(figures: DemoFigures): string {
  const { orders, dropped, outageSeconds, handled, lost, doubled, outOfOrder, deadLettered, redriven } = figures
  const table = createTable([])
  table.push(
    ['orders placed, each with its event', orders],
    ['stream records dropped', dropped],
    ['seconds that SQS was down', outageSeconds],
    ['events handled', handled],
    ['lost', lost],
    ['doubled', doubled],
    ['out of order', outOfOrder],
    ['dead-lettered', deadLettered],
    ['redriven and handled', redriven],
  )
  const verdict = isWhole(figures)
    ? `${count(orders, 'event')}: none lost, none doubled, every customer in order.`
    : 'THE PROMISE BROKE.'
  return `${table.toString()}\n${verdict}\n`
}

const NAME = 'dynamodb-outbox'

/** From the package as it is installed where the command runs, with its AWS clients and engines; none is part of the command. */
async function loadInstalled(): Promise<DemoKit> {
  try {
    const entries = await Promise.all(['', '/consumer', '/ops', '/testing'].map((entry) => load(`${NAME}${entry}`)))
    return Object.assign({}, ...entries) as DemoKit
  } catch (error) {
    const { code } = (error ?? {}) as { readonly code?: unknown }
    throw code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' ? usageError(NEEDED) : error
  }
}

const NEEDED =
  'The demo runs on engines that are not installed here. In a project: npm install dynamodb-outbox @aws-sdk/client-dynamodb ' +
  '@aws-sdk/client-sqs @aws-sdk/lib-dynamodb fauxqs, then npx dynamodb-outbox demo there.'

/** The name is not known to whoever bundles this. */
function load(name: string): Promise<Record<string, unknown>> {
  return import(name)
}
