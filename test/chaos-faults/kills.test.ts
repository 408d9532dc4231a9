import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCounts, KILL_MOMENTS } from '../chaos/faults/coverage.ts'
import { createKills } from '../chaos/faults/kills.ts'
import { toRequest } from '../chaos/faults/request.ts'
import { type LayerWorld, startLayerWorld } from './layer-world.ts'

const request = (process: string, operation: string) => {
  const made = toRequest({ id: 1, n: 1, process, target: `DynamoDB_20120810.${operation}` }, Buffer.from('{}'))
  if (made === undefined) throw new Error('not a request')
  return made
}

describe('An armed kill', () => {
  it('goes to every point of its role before it goes to one of them twice', () => {
    const counts = createCounts()
    const kills = createKills(1, counts)
    const operations = ['Query', 'GetItem', 'PutItem']
    for (const operation of operations) counts.request('relay', operation)
    for (let struck = 0; struck < 9; ) {
      void kills.arm({ role: 'relay' })
      for (const operation of operations) {
        const strike = kills.strikeAt(request('relay#3', operation))
        if (strike === undefined) continue
        counts.kill({ role: 'relay', operation, moment: strike.moment })
        struck += 1
        break
      }
    }
    expect(counts.coverage().killPoints.map(({ kills: times }) => times)).toEqual(Array(9).fill(1))
  })

  it('leaves other roles alone', () => {
    const kills = createKills(1, createCounts())
    void kills.arm({ role: 'relay' })
    expect(kills.strikeAt(request('writer-1', 'PutItem'))).toBeUndefined()
  })

  it('does not wait for ever for a point that never comes', () => {
    const counts = createCounts()
    const kills = createKills(1, counts)
    counts.request('relay', 'Rare')
    counts.request('relay', 'Query')
    for (const moment of KILL_MOMENTS) counts.kill({ role: 'relay', operation: 'Query', moment })
    void kills.arm({ role: 'relay' })
    const strikes = Array.from({ length: 100 }, () => kills.strikeAt(request('relay', 'Query')))
    expect(strikes.filter((strike) => strike !== undefined)).toHaveLength(1)
  })

  it('is given up when all is to be quiet', async () => {
    const kills = createKills(1, createCounts())
    const armed = kills.arm({ role: 'relay' })
    kills.clear()
    expect(await armed).toBeUndefined()
  })
})

describe('A process behind the layer', () => {
  let world: LayerWorld
  let child: ChildProcess
  let names = 0

  beforeAll(async () => {
    world = await startLayerWorld()
  })
  afterEach(() => {
    child.kill('SIGKILL')
  })
  afterAll(async () => {
    await world.stop()
  })

  const startVictim = () => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    const name = `victim-${++names}`
    world.layer.register(name, child.pid ?? 0)
    return name
  }
  const put = (name: string, pk: string) => {
    const { dynamo } = world.clientsOf(name)
    const Item = { pk: { S: pk }, sk: { S: '-' } }
    return dynamo.send(new PutItemCommand({ TableName: world.aws.outboxTable, Item })).then(
      () => 'answered',
      () => 'no answer',
    )
  }
  const isStored = async (pk: string) => {
    const { dynamo, outboxTable } = world.aws
    const Key = { pk: { S: pk }, sk: { S: '-' } }
    return (
      (await dynamo.send(new GetItemCommand({ TableName: outboxTable, Key, ConsistentRead: true }))).Item !== undefined
    )
  }

  it('dies before its request is applied, after it, and after the answer', async () => {
    const seen: Record<string, unknown> = {}
    for (const pk of ['first', 'second', 'third']) {
      const name = startVictim()
      const dead = once(child, 'exit')
      const armed = world.layer.armKill({ role: 'victim' })
      const answer = await put(name, pk)
      const report = await armed
      expect(await dead).toEqual([null, 'SIGKILL'])
      expect(report).toMatchObject({ process: name, role: 'victim', operation: 'PutItem', touched: [`${pk} -`] })
      seen[report?.moment ?? ''] = { answer, stored: await isStored(pk) }
    }
    expect(seen).toEqual({
      before: { answer: 'no answer', stored: false },
      applied: { answer: 'no answer', stored: true },
      answered: { answer: 'answered', stored: true },
    })
    const points = world.layer.coverage().killPoints.filter(({ role }) => role === 'victim')
    expect(points.map(({ kills }) => kills)).toEqual([1, 1, 1])
  })

  it('is frozen, and goes on once it is thawed', async () => {
    const name = startVictim()
    const armed = world.layer.armKill({ role: 'victim', freezeMs: 4000 })
    const answer = await put(name, 'frozen')
    expect(await armed).toMatchObject({ process: name, freezeMs: 4000 })
    expect(answer).toBe('answered')
    await world.layer.quiet()
    expect(child.exitCode ?? child.signalCode).toBeNull()
  })

  it('is shown in the trace of what it touched', async () => {
    const name = startVictim()
    const armed = world.layer.armKill({ role: 'victim' })
    await put(name, 'traced')
    await put('other-1', 'not-this-one')
    expect((await armed)?.process).toBe(name)
    const lines = await world.layer.trace(['traced -'])
    expect(lines).toHaveLength(2)
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`${name} PutItem → .*: traced -`)))
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`${name} killed .* PutItem: traced -`)))
  })
})
