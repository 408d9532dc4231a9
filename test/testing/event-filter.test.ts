import { describe, expect, it } from 'vitest'
import { checkFilter, type FilterPattern, matchesFilter } from '../../src/testing/event-filter.ts'
import { streamRecord } from '../../src/testing/records.ts'

const record = streamRecord({
  newImage: { pk: { S: 'K#shop/order' }, sk: { S: '-' }, shard: { S: 'p#07' }, region: { S: 'eu-central-1' } },
})

describe('event filter', () => {
  const matching: FilterPattern[] = [
    {},
    { eventName: ['INSERT'] },
    { eventName: ['MODIFY', 'INSERT'] },
    { dynamodb: { NewImage: { shard: { S: [{ prefix: 'p#' }] }, region: { S: ['eu-central-1'] } } } },
    { dynamodb: { Keys: { sk: { S: [{ suffix: '-' }] } } } },
    { dynamodb: { NewImage: { expires: { N: [{ exists: false }] } } } },
    { dynamodb: { NewImage: { shard: { S: [{ exists: true }] } } } },
    { awsRegion: [{ 'anything-but': ['eu-west-1', 'eu-west-2'] }] },
    { awsRegion: [{ 'anything-but': { prefix: 'eu-' } }] },
    { eventName: [{ 'equals-ignore-case': 'insert' }] },
  ]
  it.each(matching)('%j takes an insert of a pending row', (pattern) => {
    expect(matchesFilter(record, [pattern])).toBe(true)
  })

  const other: FilterPattern[] = [
    { eventName: ['REMOVE'] },
    { eventName: ['INSERT'], awsRegion: ['eu-west-1'] },
    { dynamodb: { NewImage: { shard: { S: [{ prefix: 'd#' }] } } } },
    { dynamodb: { OldImage: { shard: { S: [{ prefix: 'p#' }] } } } },
    { dynamodb: { NewImage: { shard: { S: [{ exists: false }] } } } },
    { awsRegion: [{ 'anything-but': { suffix: '-1' } }] },
  ]
  it.each(other)('%j does not', (pattern) => {
    expect(matchesFilter(record, [pattern])).toBe(false)
  })

  it('takes a record that one of several patterns matches, and every record without a pattern', () => {
    expect(matchesFilter(record, [{ eventName: ['REMOVE'] }, { eventName: ['INSERT'] }])).toBe(true)
    expect(matchesFilter(record, [])).toBe(true)
  })

  it('refuses a rule that it does not know instead of ignoring it', () => {
    const pattern = { dynamodb: { NewImage: { due: { N: [{ numeric: ['>', 5] }] } } } }
    expect(() => checkFilter(pattern as unknown as FilterPattern)).toThrow('filter.dynamodb.NewImage.due.N')
  })
})
