import { describe, expect, it } from 'vitest'
import { type Answer, decideRow } from '../../src/relay/decide-row.ts'

const accepted: Answer = { status: 'accepted' }
const refused: Answer = { status: 'refused', reason: 'too long' }
const failed: Answer = { status: 'failed' }
const unsent: Answer = { status: 'unsent' }

function decide(answers: Record<string, Answer>, options: { before?: string[]; inTurn?: boolean } = {}) {
  return decideRow({
    destinations: ['a', 'b'],
    accepted: new Set(options.before ?? []),
    answers: new Map(Object.entries(answers)),
    inTurn: options.inTurn ?? true,
  })
}

describe('decideRow', () => {
  it('relays what every destination has, now or from before', () => {
    expect(decide({ a: accepted, b: accepted })).toEqual({ kind: 'relay' })
    expect(decide({ b: accepted }, { before: ['a'] })).toEqual({ kind: 'relay' })
    expect(decide({}, { before: ['a', 'b', 'no longer routed'] })).toEqual({ kind: 'relay' })
  })

  it('keeps what one does not have, noting who took it now', () => {
    expect(decide({ a: accepted, b: failed })).toEqual({ kind: 'keep', accepted: ['a'] })
    expect(decide({ a: accepted })).toEqual({ kind: 'keep', accepted: ['a'] })
    expect(decide({ b: unsent }, { before: ['a'] })).toEqual({ kind: 'keep', accepted: [] })
    expect(decide({ a: failed, b: failed })).toEqual({ kind: 'keep', accepted: [] })
  })

  it('dead-letters what one refuses, but only once all others have it', () => {
    expect(decide({ a: accepted, b: refused })).toEqual({ kind: 'dead', reason: 'too long', accepted: ['a'] })
    expect(decide({ b: refused }, { before: ['a'] })).toEqual({ kind: 'dead', reason: 'too long', accepted: [] })
    expect(decide({ a: refused, b: refused })).toEqual({ kind: 'dead', reason: 'too long', accepted: [] })
    expect(decide({ a: failed, b: refused })).toEqual({ kind: 'keep', accepted: [] })
    expect(decide({ b: refused })).toEqual({ kind: 'keep', accepted: [] })
  })

  it('keeps a row out of its turn whatever the answers are, noting who took it', () => {
    expect(decide({ a: accepted, b: accepted }, { inTurn: false })).toEqual({ kind: 'keep', accepted: ['a', 'b'] })
    expect(decide({ a: accepted, b: refused }, { inTurn: false })).toEqual({ kind: 'keep', accepted: ['a'] })
  })
})
