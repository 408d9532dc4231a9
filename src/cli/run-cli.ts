import { Command, CommanderError } from 'commander'
import { actCommand } from './act-command.ts'
import { deadLettersCommand } from './dead-letters-command.ts'
import { demoCommand } from './demo-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { forgetCommand } from './forget-command.ts'
import { installCommand } from './install-command.ts'
import { EXIT, type ExitCode, type Io } from './io.ts'
import { listCommand } from './list-command.ts'
import { replayCommand } from './replay-command.ts'
import { showCommand } from './show-command.ts'
import { statusCommand } from './status-command.ts'

const EXIT_CODES = `
Exit codes:
  0    done, and all is well
  1    done as far as it could be: something is wrong, or was left
  2    nothing done: bad input, wrong stack, missing permission, no credentials
  130  ended by Ctrl-C; what was done stays done

Examples: dynamodb-outbox <command> --help
`

/** The list of commands names them alone: their own help has the rest. */
const HELP = { subcommandTerm: (command: Command) => command.name(), minWidthToWrap: 20 }

/** Runs the command line. Never throws; gives the exit code. */
export async function runCli(argv: readonly string[], given: Omit<Io, 'finish'>, version: string): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const io: Io = {
    ...given,
    out: (text) => given.out(printable(text)),
    err: (text) => given.err(printable(text)),
    finish: (ended) => {
      code = ended
    },
  }
  const program = new Command('dynamodb-outbox')
    .description('See, explain, redrive, replay and check a transactional outbox on DynamoDB.')
    .version(version)
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
  const commands = [
    statusCommand(io),
    deadLettersCommand(io),
    showCommand(io),
    listCommand(io),
    actCommand(io, 'redrive'),
    actCommand(io, 'discard'),
    replayCommand(io),
    forgetCommand(io),
    doctorCommand(io),
    installCommand(io),
    demoCommand(io),
  ]
  for (const command of commands) program.addCommand(command)
  for (const one of [program, ...program.commands]) {
    one
      .exitOverride()
      .configureHelp(HELP)
      .configureOutput({
        writeOut: io.out,
        writeErr: io.err,
        getOutHelpWidth: () => io.columns,
        getErrHelpWidth: () => io.columns,
      })
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    // Commander has printed what is wrong; help and version end so too.
    return error instanceof CommanderError && error.exitCode === 0 ? EXIT.ok : EXIT.refused
  }
}

/** Failures and bodies are other programs' texts: none of their control characters reaches a terminal. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '?')
}
