import type { Attempt } from './attempt.ts'

// How often a customer may submit a code, a voucher or another input of a step. Without a limit, the page relays every
// guess to the provider: a code of six digits would be found by trying. Five submissions of one attempt find it in one
// attempt of 200,000. The first wait is shorter than a person needs to read and type a code again. The later ones slow down a
// script and still let a person use all five within two minutes, before the code expires.
const waitsMs = [0, 5000, 15_000, 30_000, 60_000] // before the first submission, the second, ...

export const maxSubmissions = waitsMs.length // of one attempt, over all its steps and nodes

type Submitted = Pick<Attempt, 'submits' | 'submitted_at'>

export const submissionsLeft = ({ submits }: Pick<Attempt, 'submits'>): number =>
  Math.max(0, maxSubmissions - submits)

// Until the next submission; 0 if it may be made now. A submission in the future was stored before the clock was set
// back: it counts as made now.
export function submissionWaitMs({ submits, submitted_at }: Submitted, now: Date): number {
  const waitMs = waitsMs[submits] ?? 0
  const sinceMs = submitted_at ? Math.max(0, now.getTime() - submitted_at.getTime()) : Infinity
  return Math.max(0, waitMs - sinceMs)
}
