import { type ChildProcess, spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { OutboxError } from '../errors.ts'
import type { Invocation, Runner } from './function.ts'
import { PROCESS_RUNNER } from './process-runner.ts'
import type { TimeScale } from './scaled-clock.ts'

export type ProcessFunctionOptions = {
  /** The module that exports the handler: a path or a `file:` URL. */
  readonly module: URL | string
  /** Name of the export. Default `handler`. */
  readonly export?: string
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Arguments for `node` itself. */
  readonly nodeArgs?: readonly string[]
}

/** A handler in processes of its own. Give it to an event source in place of a handler. */
export type ProcessFunction = {
  readonly createRunner: <Event>(scale: TimeScale, env: Readonly<Record<string, string>>) => Runner<Event>
  /** Kills every process that is in the middle of an invocation with SIGKILL, and says how many. */
  readonly kill: () => number
  /** Process ids of those in the middle of an invocation. */
  readonly running: () => readonly number[]
}

type Sandbox = {
  readonly child: ChildProcess
  /** Settles when the process is gone. */
  readonly gone: Promise<string>
}

/**
 * Runs a handler module in child processes, as Lambda does: one invocation at a time in each, kept warm between
 * invocations, killed with SIGKILL at the timeout or by `kill`. A process that dies is an invocation error, and the next
 * invocation gets a new one. They end with this process, however it ends.
 */
export function processFunction(options: ProcessFunctionOptions): ProcessFunction {
  const busy = new Set<Sandbox>()

  const createRunner = <Event>(scale: TimeScale, sourceEnv: Readonly<Record<string, string>>): Runner<Event> => {
    const idle: Sandbox[] = []
    const alive = new Set<Sandbox>()

    const take = async (): Promise<Sandbox> => {
      const warm = idle.pop()
      if (warm !== undefined) return warm
      const sandbox = startSandbox(options, { ...sourceEnv, ...options.env })
      alive.add(sandbox)
      void sandbox.gone.then(() => {
        alive.delete(sandbox)
        const at = idle.indexOf(sandbox)
        if (at >= 0) idle.splice(at, 1)
      })
      await Promise.race([loaded(sandbox), diedEarly(sandbox)])
      return sandbox
    }

    const runIn = async <Event>(sandbox: Sandbox, invocation: Invocation<Event>): Promise<unknown> => {
      busy.add(sandbox)
      const kill = (): boolean => sandbox.child.kill('SIGKILL')
      invocation.ended.addEventListener('abort', kill, { once: true })
      try {
        const answer = await invokeIn(sandbox, invocation, scale)
        idle.push(sandbox)
        return answer
      } finally {
        invocation.ended.removeEventListener('abort', kill)
        busy.delete(sandbox)
      }
    }

    return {
      prepare: async () => {
        const sandbox = await take()
        return (invocation) => runIn(sandbox, invocation)
      },
      stop: async () => {
        const ending = [...alive].map(({ gone }) => gone)
        for (const { child } of alive) child.kill('SIGKILL')
        await Promise.all(ending)
      },
    }
  }

  return {
    createRunner,
    kill: () => [...busy].filter(({ child }) => child.kill('SIGKILL')).length,
    running: () => [...busy].flatMap(({ child }) => (child.pid === undefined ? [] : [child.pid])),
  }
}

function startSandbox(options: ProcessFunctionOptions, env: Readonly<Record<string, string>>): Sandbox {
  const { module, export: name = 'handler', nodeArgs = [] } = options
  const url = typeof module === 'string' && !module.startsWith('file:') ? pathToFileURL(module) : module
  const child = spawn(
    process.execPath,
    [...nodeArgs, '--input-type=commonjs', '-e', PROCESS_RUNNER, String(url), name],
    {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  )
  const gone = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  return { child, gone }
}

type Answer = { readonly response?: unknown; readonly error?: { readonly name: string; readonly message: string } }

/** One question, one answer: a sandbox never runs two invocations at once, so no ids are needed. */
async function invokeIn<Event>(
  { child, gone }: Sandbox,
  invocation: Invocation<Event>,
  scale: TimeScale,
): Promise<unknown> {
  const { event, functionName, requestId, deadline } = invocation
  const answered = new Promise<Answer>((resolve) => {
    child.once('message', (message) => resolve(message as Answer))
  })
  const died = diedEarly({ child, gone })
  child.send({ event, functionName, requestId, deadline, scale }, () => {})
  const { response, error } = await Promise.race([answered, died])
  if (error !== undefined) throw Object.assign(new Error(error.message), { name: error.name })
  return response
}

/** Settles once the process has imported the module, well or not: a module that fails fails its first invocation. */
function loaded({ child }: Sandbox): Promise<void> {
  return new Promise((resolve) => {
    child.once('message', () => resolve())
  })
}

async function diedEarly({ gone }: Sandbox): Promise<never> {
  const reason = await gone
  throw new OutboxError('UNAVAILABLE', `The function's process ended during the invocation: ${reason}.`, {
    details: { reason },
  })
}
