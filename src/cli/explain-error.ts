import { errorName, isOutboxError } from '../errors.ts'

/**
 * One line for a person: what is wrong and what to do about it. Of an AWS error only what names an action, a resource or a
 * table is told; a credential never is.
 */
export function explainError(error: unknown): string {
  const name = errorName(error)
  const text = error instanceof Error ? error.message : ''
  if (isOutboxError(error) || name === 'UsageError') return text
  if (ACCESS_DENIED.has(name)) return missingPermission(text)
  if (EXPIRED.has(name))
    return 'The AWS credentials have expired. Sign in again (`aws sso login`), then repeat the command.'
  if (NO_CREDENTIALS.has(name) || /credential/i.test(name))
    return 'No AWS credentials were found, or AWS does not know them. Sign in (`aws sso login`), or set AWS_PROFILE, then repeat the command.'
  if (/region/i.test(text) && /missing/i.test(text)) return 'No Region is set. Give --region, or set AWS_REGION.'
  if (NOT_FOUND.has(name))
    return `${name}: a table or queue is not there. Check --system, the Region and the account (\`aws sts get-caller-identity\`).`
  if (isUnreachable(error))
    return 'AWS does not answer. Check the network and AWS_ENDPOINT_URL, then repeat the command; what was done stays done.'
  return `${name}. Repeat the command; if that does not help, look the error up in the documentation of the AWS service.`
}

const ACCESS_DENIED: ReadonlySet<string> = new Set(['AccessDeniedException', 'AccessDenied', 'UnauthorizedOperation'])
const EXPIRED: ReadonlySet<string> = new Set(['ExpiredTokenException', 'ExpiredToken', 'TokenRefreshRequired'])
const NO_CREDENTIALS: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'TokenProviderError',
])
const NOT_FOUND: ReadonlySet<string> = new Set([
  'ResourceNotFoundException',
  'QueueDoesNotExist',
  'AWS.SimpleQueueService.NonExistentQueue',
  'ParameterNotFound',
])

/** "User: … is not authorized to perform: dynamodb:Query on resource: arn:… because …" */
function missingPermission(text: string): string {
  const [, action, resource] = /perform: ([\w-]+:\w+)(?: on resource: (\S+))?/.exec(text) ?? []
  if (action === undefined) return 'A permission is missing. The documentation lists those that each command needs.'
  const where = resource === undefined ? '' : ` on ${resource.replace(/[.,]$/, '')}`
  return `Missing permission: ${action}${where}. Ask for it, or use another role (AWS_PROFILE).`
}

function isUnreachable(error: unknown): boolean {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return (
    name === 'TimeoutError' ||
    ['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'ECONNRESET', 'EAI_AGAIN'].includes(String(code))
  )
}
