import type { SqsAnswer } from './sqs-actions.ts'

/** SQS's JSON protocol over HTTP: how an action is named and how an answer or a fault is written. */

export const SQS_CONTENT_TYPE = 'application/x-amz-json-1.0'

/** Name of the action of a request; undefined if it is none of SQS's. */
export function actionOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const target = headers['x-amz-target']
  return typeof target === 'string' && target.startsWith('AmazonSQS.') ? target.slice('AmazonSQS.'.length) : undefined
}

export type WireAnswer = { readonly status: number; readonly headers: Record<string, string>; readonly body: object }

/** A fault of the sender is answered with 400, one of the service with 503. */
export function wireAnswer(answer: SqsAnswer): WireAnswer {
  const headers = { 'content-type': SQS_CONTENT_TYPE }
  if ('body' in answer) return { status: 200, headers, body: answer.body }
  const { code, message, senderFault } = answer.fault
  return {
    status: senderFault ? 400 : 503,
    headers: { ...headers, 'x-amzn-query-error': `${code};${senderFault ? 'Sender' : 'Receiver'}` },
    body: { __type: `com.amazonaws.sqs#${code}`, message },
  }
}
