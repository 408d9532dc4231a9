import { type ChildProcess, spawn } from 'node:child_process'
import type { FromProcess, ToProcess } from './messages.ts'

/** A process of the rig. */
export type WorkerProcess = {
  readonly pid: number
  readonly tell: (message: ToProcess) => void
  /** The next message of a kind; rejects if the process ends before. */
  readonly hear: <Kind extends FromProcess['kind']>(kind: Kind) => Promise<FromProcess & { readonly kind: Kind }>
  /** Hears every message of a kind. */
  readonly on: <Kind extends FromProcess['kind']>(
    kind: Kind,
    listener: (message: FromProcess & { readonly kind: Kind }) => void,
  ) => void
  readonly kill: () => void
  /** Settles when it is gone, with why. */
  readonly gone: Promise<string>
}

/** Keeps processes ready, so that one that is killed is replaced at once. */
export type Spares = {
  readonly take: () => Promise<WorkerProcess>
  /** How long the first one took to be ready, ms of real time: tells how busy the machine is. */
  readonly startMs: () => Promise<number>
  readonly stop: () => Promise<void>
}

export function createSpares({
  program,
  count,
  cache,
}: {
  readonly program: string
  readonly count: number
  readonly cache: string
}): Spares {
  const waiting: Promise<WorkerProcess>[] = []
  const alive = new Set<WorkerProcess>()
  let stopped = false

  const start = async (): Promise<WorkerProcess> => {
    const worker = startWorker(program, cache)
    alive.add(worker)
    void worker.gone.then(() => alive.delete(worker))
    await worker.hear('ready')
    return worker
  }
  const fill = (): void => {
    while (!stopped && waiting.length < count) {
      const starting = start()
      starting.catch(() => {})
      waiting.push(starting)
    }
  }
  const began = performance.now()
  fill()
  const first = Promise.any(waiting).then(() => performance.now() - began)
  return {
    startMs: () => first,
    take: async () => {
      if (stopped) throw new Error('the run has ended: no process is started any more')
      const next = waiting.shift() ?? start()
      fill()
      return next
    },
    stop: async () => {
      stopped = true
      const ending = [...alive].map(({ gone }) => gone)
      for (const worker of alive) worker.kill()
      await Promise.all(ending)
    },
  }
}

function startWorker(program: string, cache: string): WorkerProcess {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const gone = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  return {
    pid: child.pid ?? 0,
    // Told to a process that has just died: whoever waits for its answer hears of that.
    tell: (message) => void (child.connected && child.send(message, () => {})),
    hear: (kind) => hear(child, gone, kind),
    on: (kind, listener) => {
      child.on('message', (message: FromProcess) => {
        if (message.kind === kind) listener(message as never)
      })
    },
    kill: () => void child.kill('SIGKILL'),
    gone,
  }
}

function hear<Kind extends FromProcess['kind']>(
  child: ChildProcess,
  gone: Promise<string>,
  kind: Kind,
): Promise<FromProcess & { readonly kind: Kind }> {
  return new Promise((resolve, reject) => {
    const listen = (message: FromProcess): void => {
      if (message.kind !== kind) return
      child.off('message', listen)
      resolve(message as never)
    }
    child.on('message', listen)
    void gone.then((reason) => reject(new Error(`the process ended: ${reason}`)))
  })
}
