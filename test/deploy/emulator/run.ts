import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installEmulator } from './install.ts'
import { startEmulator } from './start.ts'

/**
 * `node test/deploy/emulator/run.ts`: an emulator of AWS on 127.0.0.1 to deploy to by hand, until Ctrl-C. Prints what to put
 * into the environment of another shell. It forgets everything when it ends.
 */
const folder = await mkdtemp(join(tmpdir(), 'outbox-emulator-'))
process.stderr.write(`${await installEmulator()}\n`)
const { env, log, stop } = await startEmulator(folder)
for (const [name, value] of Object.entries(env)) process.stdout.write(`export ${name}=${value}\n`)
process.stderr.write(`its log: ${log}\n`)

const end = async (): Promise<void> => {
  await stop()
  await rm(folder, { recursive: true, force: true })
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
