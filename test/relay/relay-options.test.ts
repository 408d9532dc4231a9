import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { type RelayOptions, resolveDeps, wireRelay } from '../../src/relay/relay-options.ts'
import { createFakeQueue } from '../support/fake-queue.ts'

const queue = createFakeQueue('q', { now: () => 0 })
const options: RelayOptions = {
  client: new DynamoDBClient({ region: 'eu-west-1' }),
  tableName: 'outbox',
  routes: [{ to: queue }],
}
const wire = (more: object = {}) => wireRelay('createRelay', { ...options, ...more } as RelayOptions)

describe('what a relay is made of', () => {
  it('is for rows of the client’s Region, or of the one that is named, and of those taken over', async () => {
    expect(await resolveDeps(wire())).toMatchObject({ region: 'eu-west-1', regions: new Set(['eu-west-1']) })
    expect(await resolveDeps(wire({ region: 'us-east-1', takeOverRegions: ['eu-west-1'] }))).toMatchObject({
      region: 'us-east-1',
      regions: new Set(['us-east-1', 'eu-west-1']),
    })
  })

  it('keeps relayed rows a week, or from a day to ten years', () => {
    expect(wire().keepSeconds).toBe(7 * 86_400)
    expect(wire({ keepRelayedSeconds: 86_400 }).keepSeconds).toBe(86_400)
  })

  it.each<[object, string]>([
    [{ table: 'x' }, 'createRelay: "table" is not an option; allowed are client, tableName, routes,'],
    [{ client: new SQSClient({ region: 'eu-west-1' }) }, 'client must be a client of DynamoDB'],
    [{ tableName: '' }, 'tableName must be the name of the outbox table.'],
    [{ tableName: 7 }, 'tableName must be the name of the outbox table.'],
    [{ region: '' }, 'region must be the name of a Region.'],
    [{ region: 7 }, 'region must be the name of a Region.'],
    [{ takeOverRegions: 'eu-west-1' }, 'takeOverRegions must be an array of names of Regions.'],
    [{ takeOverRegions: ['eu-west-1', ''] }, 'takeOverRegions must be an array of names of Regions.'],
    [{ keepRelayedSeconds: 86_399 }, 'keepRelayedSeconds must be a whole number of seconds from 86400'],
    [{ routes: undefined }, 'routes must hold at least one route, as an array.'],
    [{ routes: [] }, 'routes must hold at least one route, as an array.'],
    [{ routes: [{ to: [] }] }, 'routes[0].to must name at least one destination.'],
    [{ routes: [{ to: queue }, { to: { ...queue } }] }, 'routes[1].to.name is the name of another destination too.'],
    [
      { routes: [{ to: { ...queue, publish: 1 } }] },
      'routes[0].to must be a destination, such as createSqsPublisher makes',
    ],
    [
      { routes: [{ to: { ...queue, sizeOf: 1 } }] },
      'routes[0].to must be a destination, such as createSqsPublisher makes',
    ],
    [{ routes: [{ to: [null] }] }, 'routes[0].to must be a destination, such as createSqsPublisher makes'],
    [{ routes: [{ to: queue, types: 'a' }] }, 'routes[0]: "types" is not an option; allowed are source, type, to'],
    [{ routes: [{ to: queue, source: '' }] }, 'routes[0].source must be text, or a list of texts, none empty.'],
    [{ routes: [{ to: queue, type: ['a', ''] }] }, 'routes[0].type must be text, or a list of texts, none empty.'],
    [{ routes: [{ to: queue, type: [7] }] }, 'routes[0].type must be text, or a list of texts, none empty.'],
  ])('is refused where it would go wrong later: %o', (more, message) => {
    expect(() => wire(more)).toThrow(
      expect.objectContaining({ code: 'INVALID_SETTING', message: expect.stringContaining(message) }),
    )
  })
})
