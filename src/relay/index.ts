export type { OutgoingMessage, Publisher, PublishOutcome } from './publisher.ts'
