import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { startDynamoEngine } from '../../src/testing/dynamo-engine.ts'

describe('the DynamoDB engine', () => {
  it('is the endpoint that is given, which it neither starts nor stops', async () => {
    const embedded = await startDynamoEngine('')
    const engine = await startDynamoEngine(embedded.endpoint)
    expect(engine).toMatchObject({ endpoint: embedded.endpoint, external: true })
    await engine.stop()
    expect((await fetch(embedded.endpoint)).ok).toBe(true)
    await embedded.stop()
  })

  it.each(['http://127.0.0.1:9', 'localhost:8000'])('says that nothing answers at %s', async (endpoint) => {
    const starting = startDynamoEngine(endpoint)
    await expect(starting).rejects.toMatchObject({ code: 'ENGINE_MISSING' })
    await expect(starting).rejects.toThrow('Nothing answers at the DynamoDB endpoint given')
  })

  it('listens on a free port of this machine alone until it is stopped', async () => {
    const engine = await startDynamoEngine('')
    expect(engine.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(engine.endpoint)).ok).toBe(true)
    await engine.stop()
    await expect(fetch(engine.endpoint)).rejects.toThrow()
  })

  it('says what to install or set where there is none', async () => {
    const url = new URL('../../src/testing/dynamo-engine.ts', import.meta.url).href
    const script = `
      const { startDynamoEngine } = await import(${JSON.stringify(url)})
      const said = await startDynamoEngine('').then(() => 'started', ({ code, message }) => code + ' ' + message)
      process.stdout.write(said, () => process.exit())
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said = await text(child.stdout)
    expect(said).toMatch(/^ENGINE_MISSING /)
    expect(said).toContain('@dynoxide/linux-x64')
    expect(said).toContain('DYNAMODB_ENDPOINT=http://127.0.0.1:8000')
  })
})
