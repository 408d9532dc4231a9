import { seededRandom } from '../../demo/chance.ts'
import { between, pick, type Random } from './chance.ts'
import type { WeatherRates } from './rates.ts'
import type { LayerRequest, Service } from './request.ts'

/** How an engine that is down answers: with a broken connection, with 503, or not at all until it is up again. */
export type OutageManner = 'broken' | 'error' | 'silent'

export type Outage = { readonly service: Service; readonly manner: OutageManner; readonly until: number }

/** One role may not do one operation, or nothing at all. */
export type Denial = { readonly role: string; readonly operation: string | undefined; readonly until: number }

export type Weather = {
  /** What stands against this request now, if anything. ms of the rig's clock. */
  readonly against: (request: LayerRequest, now: number) => Outage | Denial | undefined
  readonly setRates: (rates: Pick<WeatherRates, 'outages' | 'denials'>, now: number) => void
  readonly outage: (outage: Outage) => void
  readonly deny: (denial: Denial) => void
  /** Ends all of it. */
  readonly clear: () => void
}

const OUTAGE_MS = [1000, 12_000] as const
const DENIAL_MS = [2000, 25_000] as const
const MINUTE_MS = 60_000

/**
 * Outages of whole engines and permissions that are gone for seconds: at most one of each at a time. When, whom and how
 * long is from the seed; what can be denied are the operations that were asked for so far.
 */
export function createWeather(seed: number): Weather {
  const random = seededRandom(seed)
  const asked = new Map<string, Pick<LayerRequest, 'role' | 'operation'>>()
  let rates: Pick<WeatherRates, 'outages' | 'denials'> = { outages: 0, denials: 0 }
  let outage: Outage | undefined
  let denial: Denial | undefined
  let nextOutage = Number.POSITIVE_INFINITY
  let nextDenial = Number.POSITIVE_INFINITY

  const plan = (now: number): void => {
    nextOutage = now + wait(random, rates.outages)
    nextDenial = now + wait(random, rates.denials)
  }
  const advance = (now: number): void => {
    if (now >= nextOutage) {
      outage = drawOutage(random, now)
      nextOutage = outage.until + wait(random, rates.outages)
    }
    if (now >= nextDenial) {
      denial = drawDenial(random, [...asked.values()], now)
      nextDenial = (denial?.until ?? now) + wait(random, rates.denials)
    }
    if (outage !== undefined && now >= outage.until) outage = undefined
    if (denial !== undefined && now >= denial.until) denial = undefined
  }

  return {
    against: (request, now) => {
      const { role, operation, service } = request
      asked.set(`${role} ${operation}`, { role, operation })
      advance(now)
      if (outage?.service === service) return outage
      const denies = denial?.role === role && (denial.operation ?? operation) === operation
      return denies ? denial : undefined
    },
    setRates: (given, now) => {
      rates = given
      plan(now)
    },
    outage: (given) => {
      outage = given
    },
    deny: (given) => {
      denial = given
    },
    clear: () => {
      rates = { outages: 0, denials: 0 }
      outage = undefined
      denial = undefined
      plan(0)
    },
  }
}

/** Until the next one, for so many a minute: exponential. */
function wait(random: Random, perMinute: number): number {
  return perMinute === 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - random()) * MINUTE_MS) / perMinute
}

function drawOutage(random: Random, now: number): Outage {
  return {
    service: random() < 0.5 ? 'dynamo' : 'sqs',
    manner: pick(random, ['broken', 'error', 'silent']),
    until: now + between(random, ...OUTAGE_MS),
  }
}

function drawDenial(
  random: Random,
  asked: readonly Pick<LayerRequest, 'role' | 'operation'>[],
  now: number,
): Denial | undefined {
  const victim = asked[Math.floor(random() * asked.length)]
  if (victim === undefined) return undefined
  const operation = random() < 0.75 ? victim.operation : undefined
  return { role: victim.role, operation, until: now + between(random, ...DENIAL_MS) }
}
