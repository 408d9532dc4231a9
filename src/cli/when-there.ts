import { errorName } from '../errors.ts'

const NOT_THERE: ReadonlySet<string> = new Set([
  'ResourceNotFoundException',
  'QueueDoesNotExist',
  'AWS.SimpleQueueService.NonExistentQueue',
])

/** Undefined for a resource that is not there; every other error, a missing permission above all, is thrown. */
export async function whenThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (NOT_THERE.has(errorName(error))) return undefined
    throw error
  }
}
