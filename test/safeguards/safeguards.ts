import type { Safeguard } from './safeguard.ts'

export const SAFEGUARDS: readonly Safeguard[] = []
