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
  if (SKEWED.has(name))
    return 'AWS takes the request for an old one. Set the clock of this machine, then repeat the command.'
  if (/region/i.test(text) && /missing/i.test(text)) return 'No Region is set. Give --region, or set AWS_REGION.'
  if (/^Region not accepted/.test(text))
    return 'That is no Region. Give --region, or set AWS_REGION, such as eu-central-1.'
  if (NOT_FOUND.has(name))
    return `${name}: a table or queue is not there. Check --system, the Region and the account (\`aws sts get-caller-identity\`).`
  if (name === 'ValidationException' && /index/i.test(text))
    return 'The table has no index `pending`: it is no outbox table, or has lost it. Check --outbox-table and --system; `dynamodb-outbox doctor` tells what is missing.'
  return explainConnection(error) ?? otherwise(name)
}

function otherwise(name: string): string {
  return `${name}. Repeat the command; if that does not help, look the error up in the documentation of the AWS service.`
}

const ACCESS_DENIED: ReadonlySet<string> = new Set(['AccessDeniedException', 'AccessDenied', 'UnauthorizedOperation'])
const EXPIRED: ReadonlySet<string> = new Set(['ExpiredTokenException', 'ExpiredToken', 'TokenRefreshRequired'])
const SKEWED: ReadonlySet<string> = new Set(['RequestTimeTooSkewed', 'RequestExpired'])
const NO_CREDENTIALS: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidSignatureException',
  'IncompleteSignature',
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

const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'ETIMEDOUT',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'EPROTO',
])

/** Undefined for what is no trouble on the way to AWS. */
function explainConnection(error: unknown): string | undefined {
  const { name, code: given } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
  const code = String(given)
  if (name === 'TimeoutError' || UNREACHABLE.has(code))
    return 'AWS does not answer. Check the network, the Region and AWS_ENDPOINT_URL, then repeat the command; what was done stays done.'
  if (/CERT|TLS|SIGNATURE/.test(code))
    return `The certificate of the endpoint is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of its authority, or check AWS_ENDPOINT_URL.`
  if (code === 'ERR_INVALID_URL')
    return 'An endpoint is no URL. Check AWS_ENDPOINT_URL and its kin: http://127.0.0.1:8000, for example.'
  return undefined
}
