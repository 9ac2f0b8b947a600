import { claimDueAttempts, promptAttempt } from '../store/attempts.ts'
import { type Asking, askAttempt } from './ask.ts'
import { merchantOfToken } from './ids.ts'

const leaseMs = 20_000 // longer than a channel's deadlines, for an ask and a resend

// Claims up to `most` attempts that are due and asks about each; gives back the asking. A slow provider holds up its
// own attempts, not the others: whoever calls need not wait for all before claiming more.
export async function startAsking(asking: Asking, most: number, onTrouble: (error: unknown) => void) {
  const now = asking.clock()
  const due = await claimDueAttempts(asking.db, now, new Date(now.getTime() + leaseMs), most)
  return due.map(async attempt => {
    await askAttempt(asking, attempt).catch(onTrouble)
  })
}

const batch = 20

// Asks about what is due now, to the end; gives back how many there were.
export async function askDue(asking: Asking, onTrouble: (error: unknown) => void): Promise<number> {
  return (await Promise.all(await startAsking(asking, batch, onTrouble))).length
}

// A provider knocked at the address that we gave it for one attempt. What it says is not believed: we ask.
export async function prompted(
  { db, clock }: Pick<Asking, 'db' | 'clock'>,
  attempt_id: string,
): Promise<boolean> {
  if (!/^[0-9a-z]{36}$/.test(attempt_id)) return false
  return promptAttempt(db, merchantOfToken(attempt_id), attempt_id, clock())
}
