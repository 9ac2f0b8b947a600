import { claimDueAttempts, promptAttempt } from '../store/attempts.ts'
import { type Asking, askAttempt } from './ask.ts'
import { merchantOfToken } from './ids.ts'

const batch = 20 // asked about at the same time
const leaseMs = 20_000 // longer than a channel's deadlines, for an ask and a resend

// Asks about every attempt that is due; gives back how many there were.
export async function askDue(asking: Asking, onTrouble: (error: unknown) => void): Promise<number> {
  const now = asking.clock()
  const due = await claimDueAttempts(asking.db, now, new Date(now.getTime() + leaseMs), batch)
  await Promise.all(due.map(attempt => askAttempt(asking, attempt).catch(onTrouble)))
  return due.length
}

// A provider knocked at the address that we gave it for one attempt. What it says is not believed: we ask.
export async function prompted(
  { db, clock }: Pick<Asking, 'db' | 'clock'>,
  attempt_id: string,
): Promise<boolean> {
  if (!/^[0-9a-z]{36}$/.test(attempt_id)) return false
  return promptAttempt(db, merchantOfToken(attempt_id), attempt_id, clock())
}
