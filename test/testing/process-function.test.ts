import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createFunction, type LocalFunction } from '../../src/testing/function.ts'
import { type ProcessFunction, processFunction } from '../../src/testing/process-function.ts'
import { scaledClock } from '../../src/testing/scaled-clock.ts'
import { waitFor } from '../../src/testing/wait.ts'

const module = new URL('./fixtures/handlers.ts', import.meta.url)
const scale = { speed: 10, origin: Date.now() }
const clock = scaledClock(scale)
const folder = mkdtempSync(join(tmpdir(), 'process-function-'))
const started: LocalFunction<object>[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((target) => target.stop()))
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(
  name: string,
  timeoutMs = 300_000,
): { readonly code: ProcessFunction; readonly target: LocalFunction<object> } {
  const code = processFunction({ module, export: name, env: { NOTE: 'added' } })
  const target = createFunction<object>(
    { name, timeoutMs },
    { clock, runner: code.createRunner(scale, { NOTE: 'below', LOCAL_AWS: '{}' }) },
  )
  started.push(target)
  return { code, target }
}

async function begun(note: string): Promise<number> {
  const text = await waitFor(() => existsSync(note) && readFileSync(note, 'utf8'))
  return Number(text.trim())
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a function in processes of its own', () => {
  it('answers from another process, with the context of the invocation and its environment', async () => {
    const { target } = start('whoami')
    const outcome = await target.invoke({})
    expect(outcome).toMatchObject({ status: 'ok', response: { name: 'whoami', note: 'added' } })
    const { pid, left } = (outcome as { response: { pid: number; left: number } }).response
    expect(pid).not.toBe(process.pid)
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(300_000)
  })

  it('keeps a process warm, and starts another only beside a busy one', async () => {
    const { target } = start('whoami')
    const pids = async (count: number): Promise<unknown[]> => {
      const outcomes = await Promise.all(Array.from({ length: count }, () => target.invoke({})))
      return outcomes.map((outcome) => (outcome as { response: { pid: number } }).response.pid)
    }
    const [first] = await pids(1)
    expect(await pids(1)).toEqual([first])
    expect(new Set(await pids(2)).size).toBe(2)
  })

  it('reports what the handler throws, and a module without that export', async () => {
    expect(await start('fail').target.invoke({})).toMatchObject({
      status: 'error',
      error: { name: 'RangeError', message: 'not today' },
    })
    expect(await start('nothing').target.invoke({})).toMatchObject({ status: 'error', error: { name: 'TypeError' } })
  })

  it('takes a process that ends for an error, and starts a new one for the next invocation', async () => {
    const { target } = start('exit')
    for (let times = 0; times < 2; times += 1) {
      expect(await target.invoke({})).toMatchObject({
        status: 'error',
        error: { code: 'UNAVAILABLE', details: { reason: 'exit code 3' } },
      })
    }
  })

  it('kills a process in the middle of an invocation', async () => {
    const note = join(folder, 'killed')
    const { code, target } = start('hang')
    const running = target.invoke({ note })
    const pid = await begun(note)
    expect(code.running()).toEqual([pid])
    expect(code.kill()).toBe(1)
    expect(await running).toMatchObject({ status: 'error', error: { details: { reason: 'SIGKILL' } } })
    expect(isAlive(pid)).toBe(false)
    expect(code.kill()).toBe(0)
  })

  it('kills a process at the timeout', async () => {
    const { code, target } = start('hang', 10_000)
    const note = join(folder, 'timeout')
    const running = target.invoke({ note })
    const pid = await begun(note)
    expect(code.running()).toEqual([pid])
    expect(await running).toEqual({ status: 'timeout' })
    await waitFor(() => !isAlive(pid))
  })

  it('does not count the start of a process as time of the invocation', async () => {
    const outcome = await start('whoami', 60_000).target.invoke({})
    // Starting it takes more than 100 ms: 1,000 ms of the clock.
    expect(outcome).toMatchObject({ status: 'ok', response: { left: expect.toSatisfy((left) => left > 59_000) } })
  })

  it('leaves no process behind, not even when its parent is killed', async () => {
    const note = join(folder, 'orphan')
    const script = `
      const { processFunction } = await import(${JSON.stringify(new URL('../../src/testing/process-function.ts', import.meta.url).href)})
      const runner = processFunction({ module: ${JSON.stringify(module.href)}, export: 'hang' }).createRunner({ speed: 1, origin: 0 }, {})
      const run = await runner.prepare()
      await run({ event: { note: ${JSON.stringify(note)} }, functionName: 'f', requestId: 'r', deadline: 0, ended: new AbortController().signal })
    `
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    const pid = await begun(note)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await waitFor(() => !isAlive(pid))
  })
})
