import type { LambdaContext } from '../../../src/testing/lambda-events.ts'
import type { Assignment, FromProcess, ToProcess } from '../processes/messages.ts'
import { type AnyFunction, functionOf } from './functions.ts'
import { redrive } from './operator.ts'
import { openStation, type Station } from './station.ts'
import { startWriter, type Writer } from './writer.ts'

/**
 * A process of the rig. It starts without a role, so that one always stands ready, and gets one by a message. It ends
 * when the channel to the rig closes, however the rig ended.
 */
let station: Station | undefined
let call: AnyFunction | undefined
let writer: Writer | undefined

process.on('disconnect', () => process.exit(1))
process.on('message', (message) => void receive(message as ToProcess))
say({ kind: 'ready' })

async function receive(message: ToProcess): Promise<void> {
  switch (message.kind) {
    case 'assign':
      return assign(message.assignment)
    case 'invoke':
      return invoke(message)
    case 'pace':
      return writer?.pace(message.go)
    case 'finish':
      await writer?.finish()
      return say({ kind: 'finished' })
    case 'redrive':
      if (station !== undefined) say({ kind: 'finished', moved: await redrive(station, message.share) })
  }
}

function assign(assignment: Assignment): void {
  station = openStation(assignment)
  call = functionOf(assignment.role, station)
  if (assignment.role === 'writer') writer = startWriter(station, (events) => say({ kind: 'wrote', events }))
  say({ kind: 'assigned' })
}

async function invoke({
  event,
  functionName,
  requestId,
  deadline,
}: ToProcess & { readonly kind: 'invoke' }): Promise<void> {
  const now = station?.trueClock.now ?? Date.now
  const context: LambdaContext = {
    functionName,
    awsRequestId: requestId,
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - now())),
  }
  try {
    say({ kind: 'answer', response: await call?.(event as never, context) })
  } catch (error) {
    const { name = 'Error', message = '' } = error as { name?: string; message?: string }
    say({ kind: 'answer', error: { name, message } })
  }
}

/** Said to a rig that is gone: nobody minds, this process ends too. */
function say(message: FromProcess): void {
  process.send?.(message, undefined, {}, () => {})
}
