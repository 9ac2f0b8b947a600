import { malformed } from '../interface/refusal.ts'

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
export const maxAdvance = '30d'
const maxAdvanceMs = 30 * unitMs.d

export const advancePattern = '^[1-9][0-9]{0,6}[smhd]$'

// How far the clock of test payments advances, in ms: 90s, 15m, 24h or 3d.
export function readAdvance(text = ''): number {
  if (!new RegExp(advancePattern).test(text))
    throw malformed('advance', 'must be a time such as 90s, 15m, 24h or 3d')
  const ms = Number(text.slice(0, -1)) * unitMs[text.slice(-1) as keyof typeof unitMs]
  if (ms > maxAdvanceMs) throw malformed('advance', `at most ${maxAdvance}`)
  return ms
}
