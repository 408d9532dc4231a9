import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { type BusStep, createBusWorld } from './bus-world.ts'

const content = fc.constantFrom('good', 'good', 'good', 'hopeless', 'toxic')
const count = fc.integer({ min: 1, max: 15 })
/** Whatever EventBridge may say that is no fault of the event: known codes and such as nobody knows today. */
const entryFault = fc.constantFrom(
  { code: 'ThrottlingException' },
  { code: 'InternalFailure' },
  { code: 'AccessDeniedException', message: 'Not authorized to perform: events:PutEvents' },
  { code: 'SomethingNew', message: 'Parameter Detail is not what it was.' },
)
const requestFault = fc.constantFrom(
  { code: 'InternalException', status: 500 },
  { code: 'ThrottlingException' },
  { code: 'AccessDeniedException' },
)

const step: fc.Arbitrary<BusStep> = fc.oneof(
  fc.record({ do: fc.constant('commit' as const), rows: fc.array(content, { minLength: 1, maxLength: 12 }) }),
  fc.record({ do: fc.constant('commit' as const), rows: fc.array(content, { minLength: 1, maxLength: 12 }) }),
  fc.record({ do: fc.constantFrom('delete-bus' as const, 'create-bus' as const, 'sweep' as const) }),
  fc.record({ do: fc.constant('refuse-entries' as const), count, fault: entryFault }),
  fc.record({ do: fc.constant('fail-requests' as const), count, fault: requestFault }),
  fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 100 }) }),
)

/** Steps in the order in which they came, for a reader. */
const story = (steps: readonly BusStep[]): string => steps.map((one) => JSON.stringify(one)).join('\n')

it('a bus that comes, goes, refuses and fails gets every event that it can take, and no row counts as relayed before', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const { play, end, breaches } = createBusWorld()
      for (const one of steps) await play(one)
      await end()
      expect([...breaches], story(steps)).toEqual([])
    }),
    runs(150),
  )
})
