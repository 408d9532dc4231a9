import fc from 'fast-check'
import type { Fault, FaultKind, Outage, Role } from '../model/faults.ts'

/** The commands of each role that a property knows to be worth a fault; `any` counts all of them. */
export type Operations = Readonly<Partial<Record<Role, readonly string[]>>>

/** Kinds that are alike count as one: what fails is as likely as what crashes. */
const KINDS: readonly (readonly FaultKind[])[] = [
  ['dropped', 'throttled', 'denied'],
  ['lost', 'retried'],
  ['slow', 'slow-answer'],
  ['crash-before', 'crash-after', 'crash-answered'],
  ['freeze'],
]

/** Faults of these roles' requests. `seconds`: how long those last that last. `slow`: none but such. */
export function faultsOf(operations: Operations, seconds: readonly number[], slow = false): fc.Arbitrary<Fault[]> {
  const places = Object.entries(operations).flatMap(([role, ops]) => ops.map((op) => ({ role: role as Role, op })))
  const fault = fc.constantFrom(...places).chain(({ role, op }) =>
    fc.record({
      role: fc.constant(role),
      op: fc.constant(op),
      nth: fc.nat({ max: 6 }),
      times: fc.constantFrom(1, 1, 1, 2, 4),
      kind: slow ? fc.constantFrom('slow' as const, 'slow-answer' as const) : kindOf(op),
      seconds: fc.constantFrom(...seconds),
    }),
  )
  return fc.array(fault, { maxLength: 5 })
}

function kindOf(op: string): fc.Arbitrary<FaultKind> {
  const kinds = op.includes('Batch') ? [...KINDS, ['partial' as const], ['partial' as const]] : KINDS
  return fc.oneof(...kinds.map((alike) => fc.constantFrom(...alike)))
}

export function outagesOf(...targets: readonly string[]): fc.Arbitrary<Outage[]> {
  const outage = fc.record({
    target: fc.constantFrom(...targets),
    from: fc.nat({ max: 90 }),
    seconds: fc.constantFrom(5, 30, 100),
    kind: fc.constantFrom('dropped' as const, 'throttled' as const, 'denied' as const),
  })
  const none = fc.constant<Outage[]>([])
  return fc.oneof({ weight: 2, arbitrary: none }, { weight: 1, arbitrary: fc.array(outage, { maxLength: 2 }) })
}
