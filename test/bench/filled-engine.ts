import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { createTableInput } from '../../src/outbox/table-input.ts'
import type { TableDefinition } from '../../src/tables.ts'
import { freePort } from '../support/free-port.ts'

export type Item = Readonly<Record<string, AttributeValue>>

export type FilledTable = {
  readonly name: string
  readonly definition: TableDefinition
  readonly rows: Iterable<Item>
}

export type FilledEngine = { readonly endpoint: string; readonly stop: () => Promise<void> }

/**
 * Starts the embedded engine in memory with tables that hold rows already, as an import of a DynamoDB export: some 15,000
 * rows a second, three times as fast as writing them. Without streams: the engine would keep a record of every row. In a
 * process of its own that ends with this one.
 */
export async function startFilledEngine(tables: readonly FilledTable[]): Promise<FilledEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'outbox-bench-'))
  try {
    for (const table of tables) writeExport(folder, table)
    writeFileSync(join(folder, 'schema.json'), JSON.stringify(tables.map(schemaOf)))
    const port = await freePort()
    const child = startImport(folder, port)
    await untilListening(child)
    return { endpoint: `http://127.0.0.1:${port}`, stop: () => end(child) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function writeExport(folder: string, { name, rows }: FilledTable): void {
  const data = join(folder, 'export', name, 'data')
  mkdirSync(data, { recursive: true })
  const lines = Array.from(rows, (Item) => JSON.stringify({ Item }))
  // A table without rows needs a file all the same: else the import refuses the folder.
  writeFileSync(join(data, 'rows.json.gz'), gzipSync(lines.map((line) => `${line}\n`).join(''), { level: 1 }))
}

function schemaOf({ name, definition }: FilledTable): object {
  const { stream: _, ...withoutStream } = definition
  return { Table: { ...createTableInput(name, withoutStream), TableStatus: 'ACTIVE' } }
}

function startImport(folder: string, port: number): ChildProcess {
  const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')
  const given = ['--source', join(folder, 'export'), '--schema', join(folder, 'schema.json')]
  const child = spawn(
    join(dirname(manifest), 'dynoxide'),
    ['import', ...given, '--serve', '--host', '127.0.0.1', '--port', String(port)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function untilListening(child: ChildProcess): Promise<void> {
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => said.push(text.toString()))
  const listening = new Promise<void>((resolve) => {
    const look = (line: string): void => {
      if (line.includes('listening on')) resolve()
    }
    if (child.stdout !== null) createInterface(child.stdout).on('line', look)
    if (child.stderr !== null) createInterface(child.stderr).on('line', look)
  })
  const ended = once(child, 'exit').then((): never => {
    throw new Error(`the engine could not be filled: ${said.join('')}`)
  })
  await Promise.race([listening, ended])
  ended.catch(() => {})
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
