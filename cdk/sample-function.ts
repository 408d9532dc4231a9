import { join } from 'node:path'
import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda'
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

/** The CDK's command runs the app in the folder of `cdk.json`. */
const ROOT = process.cwd()

/** A function of the sample, bundled at synthesis by the esbuild that is installed here: no Docker, no network. */
export function createSampleFunction(
  scope: Construct,
  id: string,
  props: { readonly file: string; readonly description: string; readonly environment: Record<string, string> },
): NodejsFunction {
  const { file, description, environment } = props
  const logGroup = new LogGroup(scope, `${id}Logs`, {
    retention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com'), description })
  logGroup.grantWrite(role)
  return new NodejsFunction(scope, id, {
    description,
    entry: join(ROOT, 'functions/sample', file),
    projectRoot: ROOT,
    depsLockFilePath: join(ROOT, 'package-lock.json'),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 512,
    timeout: Duration.seconds(30),
    environment,
    role,
    logGroup,
    bundling: {
      format: OutputFormat.ESM,
      target: 'node24',
      mainFields: ['module', 'main'],
      minify: true,
      logLevel: LogLevel.WARNING,
      bundleAwsSDK: true,
      banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
  })
}
