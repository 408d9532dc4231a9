import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2'
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { invalidSetting } from '../src/settings.ts'
import { given } from './given.ts'
import { ACTIONS } from './grants.ts'

export type BundledFunctionProps = {
  /** Folder of the bundle under `functions`. */
  readonly bundle: 'relay' | 'sweeper'
  readonly description: string
  readonly timeout: Duration
  readonly environment: Record<string, string>
  readonly logRetention: RetentionDays
  readonly removalPolicy: RemovalPolicy
  readonly encryptionKey: IKey | undefined
  readonly role: IRole | undefined
  readonly vpc: IVpc | undefined
  readonly vpcSubnets: SubnetSelection | undefined
  readonly securityGroups: ISecurityGroup[] | undefined
}

/** Enough CPU for signing and marking; a batch is at most 6 MB and needs less than 256 MB. */
const MEMORY_MB = 512

/**
 * One of the two functions that this package brings, with a log group and a role of its own: no managed policy, and no
 * concurrency reserved, which would be taken from all other functions of the account.
 */
export function createBundledFunction(scope: Construct, id: string, props: BundledFunctionProps): LambdaFunction {
  const { bundle, description, timeout, environment, vpc, vpcSubnets, securityGroups } = props
  const logGroup = createLogGroup(scope, `${id}Logs`, props)
  const role = props.role ?? createRole(scope, `${id}Role`, description)
  logGroup.grantWrite(role)
  if (vpc !== undefined) role.addToPrincipalPolicy(networkStatement())
  return new LambdaFunction(scope, id, {
    description,
    code: Code.fromAsset(bundleFolder(bundle)),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: MEMORY_MB,
    timeout,
    environment,
    role,
    logGroup,
    ...given({ vpc, vpcSubnets, securityGroups }),
  })
}

type LogGroupProps = Pick<BundledFunctionProps, 'logRetention' | 'removalPolicy' | 'encryptionKey'>

function createLogGroup(scope: Construct, id: string, { logRetention, removalPolicy, encryptionKey }: LogGroupProps) {
  if (encryptionKey !== undefined) allowLogs(scope, encryptionKey)
  return new LogGroup(scope, id, { retention: logRetention, removalPolicy, ...given({ encryptionKey }) })
}

/** CloudWatch Logs uses a key by its own principal, so the key's policy must name it. An imported key's policy stays as it is. */
function allowLogs(scope: Construct, key: IKey): void {
  const stack = Stack.of(scope)
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
      actions: [...ACTIONS.writeKey],
      resources: ['*'],
      conditions: {
        ArnLike: {
          'kms:EncryptionContext:aws:logs:arn': `arn:${stack.partition}:logs:${stack.region}:${stack.account}:log-group:*`,
        },
      },
    }),
  )
}

function createRole(scope: Construct, id: string, description: string): Role {
  return new Role(scope, id, { assumedBy: new ServicePrincipal('lambda.amazonaws.com'), description })
}

/** AWS has no narrower resource for these: Lambda makes the interfaces before they have a name. */
function networkStatement(): PolicyStatement {
  return new PolicyStatement({
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  })
}

/** The package carries its bundles beside this code; in the repository they are what `npm run build` made. */
function bundleFolder(name: string): string {
  const roots = [...(typeof __dirname === 'string' ? [__dirname] : []), join(process.cwd(), 'dist')]
  const folder = roots.map((root) => join(root, 'functions', name)).find((path) => existsSync(join(path, 'index.mjs')))
  if (folder !== undefined) return folder
  throw invalidSetting(
    `functions/${name}`,
    'is missing; run `npm run build` in the repository, or leave this package out of the bundle of your own CDK app',
  )
}
