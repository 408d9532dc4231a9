import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { EngineAnswer } from './forward.ts'
import type { LayerRequest } from './request.ts'

/** Every request of a run in a file, so that a breach at the end of half an hour can still be traced to its beginning. */
export type Recorder = {
  readonly note: (passage: Passage) => void
  /** What befell a process, at `at` ms of the rig's clock. */
  readonly tell: (at: number, text: string) => void
  /** Lines that name one of these texts, in the order in which the requests ended. */
  readonly trace: (texts: readonly string[]) => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export type Passage = {
  readonly request: LayerRequest
  /** ms of the rig's clock. */
  readonly from: number
  readonly to: number
  /** Faults, kills and the like. */
  readonly marks: readonly string[]
  /** Undefined: the connection broke. */
  readonly answer: EngineAnswer | undefined
}

/** The file is begun anew at this size, and the one before it is kept: so much of the latest can be traced. */
const FILE_BYTES = 512 * 1024 * 1024
const SHOWN_NAMES = 30
/** Lines are gathered up to so many characters: a write for each line costs more than all the rest of the layer. */
const GATHERED = 256 * 1024

export async function openRecorder(start: number): Promise<Recorder> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-trace-'))
  const [path, before] = [join(folder, 'requests'), join(folder, 'requests-before')]
  let file: WriteStream = createWriteStream(path)
  let bytes = 0
  let gathered = ''
  let turning: Promise<void> | undefined

  const flush = (): Promise<unknown> => {
    const text = gathered
    bytes += text.length
    gathered = ''
    return new Promise((resolve) => file.write(text, resolve))
  }
  const turn = async (): Promise<void> => {
    await finished(file)
    await rename(path, before)
    file = createWriteStream(path)
    bytes = 0
    turning = undefined
  }
  const write = (text: string): void => {
    gathered += `${text}\n`
    if (gathered.length < GATHERED || turning !== undefined) return
    void flush()
    if (bytes > FILE_BYTES) turning = turn()
  }
  return {
    note: (passage) => write(line(passage, start)),
    tell: (at, text) => write(`${seconds(at - start)} ${text}`),
    trace: async (texts) => {
      await turning
      await flush()
      const found: string[] = []
      for (const source of [before, path]) {
        if (await stat(source).catch(() => undefined))
          for await (const text of createInterface(createReadStream(source)))
            if (texts.some((wanted) => text.includes(wanted))) found.push(text)
      }
      return found
    },
    close: async () => {
      await turning
      await finished(file)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function finished(file: WriteStream): Promise<void> {
  return new Promise((resolve) => file.end(resolve))
}

function line({ request, from, to, marks, answer }: Passage, start: number): string {
  const times = `${seconds(from - start)}–${seconds(to - start)}`
  const end = answer === undefined ? 'no answer' : `${answer.status}${errorOf(answer)}`
  const asked = namesIn(request.body).join(', ')
  const names = answer === undefined ? [] : namesIn(answer.body).slice(0, SHOWN_NAMES)
  const got = names.length === 0 ? '' : ` ⇒ ${names.join(', ')}`
  const faults = marks.length === 0 ? '' : ` [${marks.join('; ')}]`
  return `${times} #${request.id} ${request.process} ${request.label}${faults} → ${end}: ${asked}${got}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)}s`
}

function errorOf({ status, body }: EngineAnswer): string {
  if (status === 200) return ''
  const text = body.toString('latin1', 0, 1000)
  const reasons = /specific reasons (\[[^\]]*\])/.exec(text)?.[1] ?? ''
  return ` ${/#(\w+)/.exec(text)?.[1] ?? ''}${reasons}`
}

/** Event ids, keys of rows and ledger entries (`pk sk`), and names of groups in a body, once each. */
export function namesIn(body: Buffer): string[] {
  const text = body.toString('latin1')
  const names = new Set<string>()
  for (const [, pk, sk] of text.matchAll(ITEM_KEY)) names.add(`${pk} ${sk}`)
  for (const [, pk, sk] of text.matchAll(STATEMENT_KEY)) names.add(`${pk} ${sk}`)
  for (const [, pk] of text.matchAll(PARTITION)) if (pk !== undefined) names.add(pk)
  for (const [id] of text.matchAll(EVENT_ID)) names.add(id)
  return [...names]
}

const ITEM_KEY = /"pk":\{"S":"([^"]{1,300})"\},"sk":\{"S":"([^"]{1,300})"\}/g
const STATEMENT_KEY = /\{"S":"([KG]#[^"]+|[0-9a-f]{64})"\},\{"S":"([^"]+)"\}/g
const PARTITION = /":pk":\{"S":"([^"]+)"\}/g
const EVENT_ID = /\b[0-9a-f]{64}\b/g
