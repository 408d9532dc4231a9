/** What the demo tells its consumer's processes. */
export type DemoEnvironment = {
  readonly shopTable: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
  /** Orders after whose mail the process is killed. */
  readonly killAfterMail: readonly string[]
}

const VARIABLE = 'SHOP_DEMO'

export function demoEnvironment(environment: DemoEnvironment): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(environment) }
}

export function readDemoEnvironment(env: NodeJS.ProcessEnv): DemoEnvironment {
  const text = env[VARIABLE]
  if (text === undefined) throw new Error(`${VARIABLE} is not set: this module runs inside the demo, \`npm run demo\`.`)
  return JSON.parse(text) as DemoEnvironment
}
