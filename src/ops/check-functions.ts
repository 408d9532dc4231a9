import { VARIABLES } from '../settings.ts'
import type { Deployment, Finding, FunctionFacts } from './deployment.ts'

/** When AWS stops to patch a runtime, ms. Older ones are past it. */
const DEPRECATED: Readonly<Record<string, number>> = {
  'nodejs20.x': Date.UTC(2026, 3, 30),
  'nodejs22.x': Date.UTC(2027, 3, 30),
  'nodejs24.x': Date.UTC(2028, 3, 30),
}
const NODE = /^nodejs(\d+)\.x$/
const SWEEPER_LATE_MS = 180_000

/** Relay, sweeper and consumers: there, on a runtime with a future, told of the right tables. */
export function checkFunctions(deployment: Deployment): readonly Finding[] {
  const { names, relay, sweeper, consumers, now } = deployment
  const outbox = { [VARIABLES.outboxTable]: names.outboxTable }
  return [
    ...checkFunction({ title: 'relay', name: names.relay, facts: relay, expected: outbox, now }),
    ...checkFunction({ title: 'sweeper', name: names.sweeper, facts: sweeper, expected: outbox, now }),
    ...consumers.flatMap(({ name, handlerName, handler, ledgerName, queueUrl, deadLetterQueueUrl }) =>
      checkFunction({
        title: `consumer ${name}`,
        name: handlerName,
        facts: handler,
        expected: {
          [VARIABLES.ledgerTable]: ledgerName,
          [VARIABLES.queueUrl]: queueUrl,
          [VARIABLES.deadLetterQueueUrl]: deadLetterQueueUrl,
        },
        now,
      }),
    ),
    ...(sweeper === undefined ? [] : checkSweeps(deployment)),
  ]
}

type Checked = {
  readonly title: string
  readonly name: string
  readonly facts: FunctionFacts | undefined
  readonly expected: Readonly<Record<string, string>>
  readonly now: number
}

function checkFunction({ title, name, facts, expected, now }: Checked): readonly Finding[] {
  const resource = `${title} (${name})`
  if (facts === undefined)
    return [
      {
        severity: 'error',
        resource,
        wrong: 'is not there',
        effect: 'Nothing of its work is done.',
        property: 'deploy the stack again',
        command: `aws lambda get-function-configuration --function-name ${name}`,
      },
    ]
  // A consumer may read its names from elsewhere: only a variable that says something else is wrong.
  const wrong = Object.keys(expected).filter(
    (variable) => ![undefined, expected[variable]].includes(facts.environment[variable]),
  )
  return [...wrong.map((variable) => otherName(resource, name, variable)), ...checkRuntime(resource, facts, now)]
}

function otherName(resource: string, name: string, variable: string): Finding {
  return {
    severity: 'error',
    resource,
    wrong: `has another ${variable} than its stack made`,
    effect: 'It works on other tables or queues than everybody else.',
    property: 'environment of the function',
    command: `deploy the stack again; aws lambda get-function-configuration --function-name ${name} --query Environment shows what it has`,
  }
}

function checkRuntime(resource: string, { name, runtime }: FunctionFacts, now: number): readonly Finding[] {
  const major = Number(NODE.exec(runtime)?.[1] ?? Number.NaN)
  const end = DEPRECATED[runtime] ?? (major < 20 ? 0 : Number.POSITIVE_INFINITY)
  if (now < end) return []
  return [
    {
      severity: 'warning',
      resource,
      wrong: `runs on ${runtime}, which AWS no longer patches`,
      effect: 'After a while it can no longer be deployed.',
      property: 'runtime: Runtime.NODEJS_24_X of the function',
      command: `aws lambda update-function-configuration --function-name ${name} --runtime nodejs24.x, once its code is known to run there`,
    },
  ]
}

function checkSweeps({ names, sweptAt, now }: Deployment): readonly Finding[] {
  if (sweptAt !== undefined && now - sweptAt <= SWEEPER_LATE_MS) return []
  return [
    {
      severity: 'error',
      resource: `sweeper (${names.sweeper})`,
      wrong:
        sweptAt === undefined ? 'has never run here' : `last ran ${Math.round((now - sweptAt) / 60_000)} minutes ago`,
      effect: 'What the stream path misses is not delivered, and no age of rows is known.',
      property: 'TransactionalOutbox (its schedule)',
      command: 'aws scheduler list-schedules --query "Schedules[].[Name,State]"; deploy the stack again if it is gone',
    },
  ]
}
