import { sha256 } from '../event/identity.ts'
import type { OutgoingMessage } from './publisher.ts'
import type { PendingRow } from './row-image.ts'

const GROUP_ID = /^[\x21-\x7e]{1,128}$/

/**
 * The message of a row: the body verbatim. The deduplication id is the event id, with `-r<n>` after the n-th redrive or
 * replay, so that a broker takes it again within its five minutes. The group id is the event id for unordered rows (each
 * its own group), `source/group` for ordered ones, or `h-` and its SHA-256 where a queue would refuse that.
 */
export function outgoingMessage(row: PendingRow): OutgoingMessage {
  return {
    deduplicationId: row.redrives === 0 ? row.id : `${row.id}-r${row.redrives}`,
    groupId: row.group === undefined ? row.id : groupIdOf(row.group),
    body: row.body,
    ...(row.note === undefined ? {} : { note: row.note }),
    ...(row.source === undefined ? {} : { source: row.source }),
    ...(row.type === undefined ? {} : { type: row.type }),
  }
}

function groupIdOf(group: string): string {
  return GROUP_ID.test(group) ? group : `h-${sha256(group)}`
}
