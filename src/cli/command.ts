import { userInfo } from 'node:os'
import { Command, Option } from 'commander'
import { explainError } from './explain-error.ts'
import { type FoundSystem, findSystem, type SystemOptions } from './find-system.ts'
import { EXIT, type ExitCode, type Io } from './io.ts'

/** Options that every command takes, beside those of its own. */
export type CommonOptions = SystemOptions & { readonly json?: boolean }

export type Run<Options> = (
  context: FoundSystem & {
    readonly options: Options & CommonOptions
    readonly args: readonly string[]
    readonly io: Io
  },
) => Promise<ExitCode>

/** A command that works on a system. It never throws: what goes wrong is one line on standard error and an exit code. */
export function systemCommand<Options extends object>(
  {
    name,
    summary,
    examples,
  }: { readonly name: string; readonly summary: string; readonly examples: readonly string[] },
  io: Io,
  run: Run<Options>,
): Command {
  const command = new Command(name)
    .summary(summary)
    .description(summary)
    .option('--json', 'print one JSON document instead of text')
    .option('--system <name>', 'the outbox, as its stack names it (only if there is more than one)')
    .option('--region <region>', 'the AWS Region')
    .addOption(
      new Option('--outbox-table <name>', 'the outbox table, where no parameter names it').helpGroup('By name:'),
    )
    .addOption(new Option('--consumer <spec...>', 'name=ledgerTable,queueUrl,deadLetterQueueUrl').helpGroup('By name:'))
    .addOption(
      new Option('--pull-source <source...>', 'sources whose rows pull workers take, to look at them too').helpGroup(
        'By name:',
      ),
    )
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ dynamodb-outbox ${line}\n`).join('')}`)
  return command.action(async (...given: unknown[]) => {
    // Commander hands over the arguments, the options, the command itself.
    const args = given
      .slice(0, -2)
      .flat()
      .filter((arg): arg is string => typeof arg === 'string')
    const options = command.opts<Options & CommonOptions>()
    io.finish(await guarded(io, async () => run({ ...(await findSystem(options, io)), options, args, io })))
  })
}

/** Never throws. */
export async function guarded(io: Io, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    const code = await work()
    return io.signal.aborted ? EXIT.interrupted : code
  } catch (error) {
    if (io.signal.aborted) return EXIT.interrupted
    io.err(`error: ${explainError(error)}\n`)
    return EXIT.refused
  }
}

/** Who is recorded as having acted: the person at the machine, unless they say who. */
export function whoActs(by: string | undefined, { env }: Io): string {
  const name = by ?? env['DYNAMODB_OUTBOX_BY'] ?? userInfo().username
  return name.replace(/[^ -~]/g, '?').slice(0, 64) || 'unknown'
}
