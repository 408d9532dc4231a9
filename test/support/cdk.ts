import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Stack, type StackProps } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Code, type FunctionProps, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { afterAll } from 'vitest'

/** The flags that `cdk init` sets in a new app. */
const FLAGS: Record<string, unknown> = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('aws-cdk-lib/recommended-feature-flags.json'), 'utf8'),
)

const OUTPUT = mkdtempSync(join(tmpdir(), 'cdk-test-'))
afterAll(() => rmSync(OUTPUT, { recursive: true, force: true }))

/** Makes the bundles of relay and sweeper if nobody has built them yet. They appear whole, so that several may do it at once. */
export function ensureBundles(): void {
  if (['relay', 'sweeper'].every((name) => existsSync(`dist/functions/${name}/index.mjs`))) return
  const { status, stderr } = spawnSync(process.execPath, ['functions/build.ts', '--quiet'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`functions/build.ts failed: ${stderr}`)
}

export type Resource = {
  readonly Type: string
  readonly Properties: Record<string, unknown>
  readonly DependsOn?: readonly string[]
  readonly DeletionPolicy?: string
  readonly UpdateReplacePolicy?: string
}

type AppOptions = {
  /** Beside the flags; `false`: without any flag. */
  readonly context?: Record<string, unknown> | false
  /** Check templates against CloudFormation's own rules, and fail on what they find: it takes seconds at each start. */
  readonly validate?: boolean
}

export function createApp({ context = {}, validate = false }: AppOptions = {}): App {
  ensureBundles()
  return new App({
    outdir: mkdtempSync(join(OUTPUT, 'app-')),
    treeMetadata: false,
    analyticsReporting: false,
    builtinCloudFormationValidation: validate,
    context: { 'aws:cdk:disable-asset-staging': true, ...(context === false ? {} : { ...FLAGS, ...context }) },
  })
}

/** Synthesises one stack, as in an app that `cdk init` made. */
export function synthesise(build: (stack: Stack) => void, props?: StackProps): Template {
  const stack = new Stack(createApp(), 'Stack', props)
  build(stack)
  return Template.fromStack(stack)
}

/** A function as a user has one. */
export function someFunction(scope: Construct, id = 'Handler', props: Partial<FunctionProps> = {}): LambdaFunction {
  return new LambdaFunction(scope, id, {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {}'),
    ...props,
  })
}

/** The resources of one type by readable names: logical ids without their hash. */
export function resourcesOf(template: Template, type: string): Record<string, Resource> {
  return Object.fromEntries(
    Object.entries(template.findResources(type)).map(([id, resource]) => [readable(id), resource as Resource]),
  )
}

/** The one resource of a type whose readable name ends so. */
export function resourceOf(template: Template, type: string, name: string): Resource {
  const found = Object.entries(resourcesOf(template, type)).filter(([id]) => id.endsWith(name))
  const [entry] = found
  if (entry === undefined || found.length > 1)
    throw new Error(`${found.length} of ${type} end in ${name}: ${Object.keys(resourcesOf(template, type))}`)
  return entry[1]
}

function readable(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '')
}

/** An intrinsic function as text: `Table.Arn/index/pending`. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  const [[name, argument] = ['', undefined]] = Object.entries(value as Record<string, unknown>)
  if (name === 'Ref') return readable(String(argument))
  if (name === 'Fn::GetAtt') return (argument as string[]).map(readable).join('.')
  if (name === 'Fn::Join') return (argument as [string, unknown[]])[1].map(textOf).join('')
  if (name === 'Fn::GetStackOutput')
    return (argument as { OutputName: string }).OutputName.replace(/^PublishOutput/, '')
  return JSON.stringify(value)
}

type Statement = {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Principal?: unknown
  readonly Condition?: unknown
}

export function statementsIn(resource: Resource): readonly Statement[] {
  return (resource.Properties['PolicyDocument'] as { Statement: readonly Statement[] }).Statement
}

/** What a role may do: `actions on resource`, sorted. */
export function permissionsOf(template: Template, policy: string): readonly string[] {
  return statementsIn(resourceOf(template, 'AWS::IAM::Policy', policy))
    .map(({ Effect, Action, Resource }) => `${Effect} ${[Action].flat().join(', ')} on ${textOf(Resource)}`)
    .sort()
}
