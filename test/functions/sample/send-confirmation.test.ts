import { expect, it } from 'vitest'
import { createSendConfirmation } from '../../../functions/sample/send-confirmation.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'

it('sends the mail under the idempotency key of the delivery', async () => {
  const mails: object[] = []
  const handle = createSendConfirmation({ mailer: { send: async (mail) => void mails.push(mail) } })
  await handle({ data: { orderId: 'a' } } as never, { idempotencyKey: 'k' } as HandlerContext)
  expect(mails).toEqual([{ orderId: 'a', idempotencyKey: 'k' }])
})

it('fails as the mail service fails', async () => {
  const handle = createSendConfirmation({ mailer: { send: () => Promise.reject(new Error('full')) } })
  await expect(handle({ data: { orderId: 'a' } } as never, {} as HandlerContext)).rejects.toThrow('full')
})
