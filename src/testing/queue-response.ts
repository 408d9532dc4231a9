import { failureItems } from './stream-batch.ts'

/**
 * Which messages of a batch are deleted after the function answered. An identifier that is not in the batch, not text or
 * empty keeps the whole batch; no answer, or an empty list, deletes all of it.
 */
export function judgeQueueResponse(messageIds: readonly string[], response: unknown): string[] {
  const failed = failureItems(response)
  if (failed === undefined || !failed.every((item) => messageIds.includes(item))) return []
  return messageIds.filter((messageId) => !failed.includes(messageId))
}
