import { checkOptions, invalidSetting } from '../settings.ts'
import { checkDestinationName, type Publisher } from './publisher.ts'

/** Which rows go where. A row goes to every destination of every route that takes it; of names, exact ones only. */
export type Route = {
  /** Sources taken. Default: all, and foreign rows, which have none. */
  readonly source?: string | readonly string[]
  /** Types taken. Default: all, and foreign rows without a type. */
  readonly type?: string | readonly string[]
  readonly to: Publisher | readonly Publisher[]
}

export type Routing = {
  /** Every destination once. */
  readonly publishers: readonly Publisher[]
  /** Names of the destinations of a row; empty if no route takes it. */
  readonly destinationsOf: (row: { readonly source?: string; readonly type?: string }) => readonly string[]
}

type Rule = {
  readonly sources?: ReadonlySet<string>
  readonly types?: ReadonlySet<string>
  readonly names: readonly string[]
}

/** Checks the routes once. Refused: none, one without a destination, two destinations of one name. */
export function compileRoutes(routes: readonly Route[]): Routing {
  if (!Array.isArray(routes) || routes.length === 0)
    throw invalidSetting('routes', 'must hold at least one route, as an array')
  const publishers = new Map<string, Publisher>()
  const rules = routes.map((route, index) => compileRule(route, `routes[${index}]`, publishers))
  return {
    publishers: [...publishers.values()],
    destinationsOf: (row) => {
      const taking = rules.filter((rule) => takes(rule, row))
      const [only] = taking
      if (only !== undefined && taking.length === 1) return only.names
      return [...new Set(taking.flatMap(({ names }) => names))]
    },
  }
}

function compileRule(route: Route, path: string, publishers: Map<string, Publisher>): Rule {
  checkOptions(path, route, ['source', 'type', 'to'])
  const to = [route.to].flat() as readonly Publisher[]
  if (to.length === 0) throw invalidSetting(`${path}.to`, 'must name at least one destination')
  for (const publisher of to) register(publisher, path, publishers)
  return {
    names: [...new Set(to.map(({ name }) => name))],
    ...(route.source === undefined ? {} : { sources: namesOf(`${path}.source`, route.source) }),
    ...(route.type === undefined ? {} : { types: namesOf(`${path}.type`, route.type) }),
  }
}

function namesOf(path: string, given: string | readonly string[]): ReadonlySet<string> {
  const names = [given].flat()
  if (names.every((name) => typeof name === 'string' && name !== '')) return new Set(names)
  throw invalidSetting(path, 'must be text, or a list of texts, none empty')
}

function register(publisher: Publisher, path: string, publishers: Map<string, Publisher>): void {
  if (typeof publisher?.publish !== 'function' || typeof publisher.sizeOf !== 'function')
    throw invalidSetting(`${path}.to`, 'must be a destination, such as createSqsPublisher makes, or an array of them')
  const { name } = publisher
  checkDestinationName(`${path}.to.name`, name)
  const known = publishers.get(name) ?? publisher
  if (known !== publisher) throw invalidSetting(`${path}.to.name`, 'is the name of another destination too')
  publishers.set(name, publisher)
}

function takes(
  { sources, types }: Rule,
  { source, type }: { readonly source?: string; readonly type?: string },
): boolean {
  if (sources !== undefined && (source === undefined || !sources.has(source))) return false
  return types === undefined || (type !== undefined && types.has(type))
}
