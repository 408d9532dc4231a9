import { describe, expect, it } from 'vitest'
import { explainError } from '../../src/cli/explain-error.ts'
import { OutboxError } from '../../src/errors.ts'
import { awsError, networkError } from '../support/faults.ts'

const denied = (message: string) => Object.assign(awsError('AccessDeniedException'), { message })

describe('explainError', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'a missing permission by action and resource',
      denied(
        'User: arn:aws:iam::1:user/ann is not authorized to perform: dynamodb:Query on resource: arn:aws:dynamodb:eu-west-1:1:table/orders/index/pending because no identity-based policy allows it',
      ),
      /^Missing permission: dynamodb:Query on arn:aws:dynamodb:eu-west-1:1:table\/orders\/index\/pending\. Ask for it/,
    ],
    ['a missing permission without a name', denied('no'), /^A permission is missing/],
    ['expired credentials', awsError('ExpiredTokenException'), /expired.*sign in again/is],
    ['unknown credentials', awsError('UnrecognizedClientException'), /no AWS credentials/i],
    ['no credentials', awsError('CredentialsProviderError'), /no AWS credentials/i],
    ['no Region', new Error('Region is missing'), /--region/],
    ['a table that is not there', awsError('ResourceNotFoundException'), /--system/],
    ['an endpoint that does not answer', Object.assign(networkError(), { code: 'ECONNREFUSED' }), /does not answer/],
    ['a Region that there is not', Object.assign(networkError(), { code: 'ENOTFOUND' }), /Region/],
    ['a Region that is none', new Error('Region not accepted: region="a b" is not a valid hostname'), /no Region/],
    ['a wrong secret', awsError('InvalidSignatureException'), /no AWS credentials/i],
    ['a wrong clock', awsError('RequestTimeTooSkewed'), /clock of this machine/],
    [
      'a certificate that is not trusted',
      Object.assign(new Error('self-signed'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      /NODE_EXTRA_CA_CERTS/,
    ],
    ['an endpoint that is no URL', Object.assign(new TypeError('no'), { code: 'ERR_INVALID_URL' }), /AWS_ENDPOINT_URL/],
    [
      'a table that is no outbox',
      Object.assign(awsError('ValidationException'), {
        message: 'The table does not have the specified index: pending',
      }),
      /no outbox table.*doctor/,
    ],
    ['an error of our own by its text', new OutboxError('INVALID_SETTING', 'by must say who.'), /^by must say who\.$/],
    ['whatever else by its name', awsError('LimitExceededException'), /^LimitExceededException\./],
    ['what is no error', null, /^Error\./],
  ])('tells %s in one line', (_, error, text) => {
    expect(explainError(error)).toMatch(text)
    expect(explainError(error)).not.toContain('\n')
  })

  it('says nothing of who was refused', () => {
    expect(
      explainError(denied('User: arn:aws:iam::1:user/ann is not authorized to perform: sqs:SendMessage')),
    ).not.toContain('ann')
  })
})
