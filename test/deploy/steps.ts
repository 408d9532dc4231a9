import type { Sample } from './sample.ts'
import type { Step } from './step.ts'
import { apps } from './steps/apps.ts'
import { contracts } from './steps/contracts.ts'
import { doctorClean, driftsMended } from './steps/doctor.ts'
import { handledOnce } from './steps/handled.ts'
import { bootstrapped, deployed, destroyed, updated } from './steps/lifecycle.ts'
import { operate } from './steps/operate.ts'
import { parcelsPrepared } from './steps/parcels.ts'
import { permissionsSuffice } from './steps/permissions.ts'
import { placeDocumented, placeOrders } from './steps/place-orders.ts'
import { poisonDies, poisonRedriven } from './steps/poison.ts'
import { rowsRelayed } from './steps/relayed.ts'
import { streamPathOff, sweeperDelivers } from './steps/sweeper.ts'
import { watched } from './steps/watched.ts'

/** The whole run, in order. */
export function stepsOf(sample: Sample): readonly Step[] {
  const operated = operate(sample)
  return [
    bootstrapped(sample),
    deployed(sample),
    watched(sample),
    placeDocumented(sample),
    placeOrders(sample),
    handledOnce(sample),
    parcelsPrepared(sample),
    rowsRelayed(sample),
    poisonDies(sample),
    poisonRedriven(sample),
    operated.listed,
    operated.oneCause,
    streamPathOff(sample),
    operated.allKilled,
    contracts,
    ...apps,
    sweeperDelivers(sample),
    operated.replayKilled,
    operated.allRedriven,
    updated(sample),
    doctorClean(),
    driftsMended(sample),
    permissionsSuffice,
    destroyed(sample),
  ]
}
