import { Annotations, Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/** A function that is defined in this app. Told by what it has: an app may hold two copies of the library. */
type OwnFunction = IFunction & {
  readonly addEnvironment: (key: string, value: string) => unknown
  readonly timeout?: Duration
}

function isOwn(handler: IFunction): handler is OwnFunction {
  return 'addEnvironment' in handler && typeof handler.addEnvironment === 'function'
}

/** Lambda's default for a function of this app that names none, and the longest that an imported one can have. */
const DEFAULT_TIMEOUT = Duration.seconds(3)
const LONGEST_TIMEOUT = Duration.minutes(15)
const SHORTEST_VISIBILITY_SECONDS = 900

/** Undefined for a function that is imported, a version or an alias. */
export function timeoutOf(handler: IFunction): Duration | undefined {
  if (!isOwn(handler)) return undefined
  const timeout = handler.timeout ?? DEFAULT_TIMEOUT
  return timeout.isUnresolved() ? undefined : timeout
}

/**
 * How long a message stays hidden when the function never got to say anything: six times its timeout, as AWS advises, and
 * at least 15 minutes, so that a function that cannot start stays far from the queue's limit of receives.
 */
export function visibilityFor(handler: IFunction): Duration {
  const seconds = 6 * (timeoutOf(handler) ?? LONGEST_TIMEOUT).toSeconds()
  return Duration.seconds(Math.max(seconds, SHORTEST_VISIBILITY_SECONDS))
}

/** Sets the variables of a function of this app; for any other, a warning says what to set. */
export function setEnvironment(scope: Construct, handler: IFunction, environment: Record<string, string>): void {
  if (isOwn(handler)) {
    for (const [name, value] of Object.entries(environment)) handler.addEnvironment(name, value)
    return
  }
  Annotations.of(scope).addWarningV2(
    'dynamodb-outbox:consumer-environment',
    `The function is imported, a version or an alias: set ${Object.keys(environment).join(', ')} in its environment yourself, to the values in \`environment\` of this construct.`,
  )
}

const CONSUMER = 'dynamodb-outbox:consumer'

/** Path of the consumer that the function served already; from now on it serves this one. */
export function registerConsumer(scope: Construct, handler: IFunction): string | undefined {
  const earlier = handler.node.metadata.find(({ type }) => type === CONSUMER)?.data
  handler.node.addMetadata(CONSUMER, scope.node.path)
  return typeof earlier === 'string' ? earlier : undefined
}
