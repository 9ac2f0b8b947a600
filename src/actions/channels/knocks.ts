import type { OpenedIdentity } from '../../core/channel/accountIdentity.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { promptAttempt } from '../../store/payments/attempts.ts'
import type { AskLease, DueAttempt } from '../../store/payments/dueAttempts.ts'
import { knockAtAttempts } from '../../store/payments/knocks.ts'
import type { PaymentDeps } from '../payments/deps.ts'

// Who asks in this process.
export type Asker = {
  room(): number
  lease(now: Date): AskLease
  opened(): readonly OpenedIdentity[] // attempts of other accounts are left to other nodes
  ask(attempt: DueAttempt): void
}

type Item = { merchant_id: string; attempt_id: string; now: Date }
type Heard = 'asked' | 'due' | undefined // by us and now, by whoever looks, or nothing was learnt of it
export type Knocks = { hear(item: Item): Promise<Heard>; askers: Set<Asker> }

const limits = { maxRows: 100, maxInFlight: 1, maxQueued: 5000 } // one: room is counted between two
const made = new WeakMap<Db, Knocks>()

// Knocks that come together are written down by one statement. Where somebody in this process has room to ask, it also
// takes them.
export function knocksOn(shared: Db): Knocks {
  const knocks = made.get(shared) ?? createKnocks(shared.share('knock'))
  made.set(shared, knocks)
  return knocks
}

function createKnocks(db: Db): Knocks {
  const askers = new Set<Asker>()
  async function hearAll(items: readonly Item[]): Promise<Heard[]> {
    const [asker] = askers
    const room = asker?.room() ?? 0
    const each = [...new Map(items.map(item => [item.attempt_id, item])).values()] // however often it was knocked for
    const now = new Date(Math.max(...each.map(item => item.now.getTime())))
    const lease = asker?.lease(now) ?? { now, until: now }
    const taken = new Set(each.slice(0, room).map(({ attempt_id }) => attempt_id))
    const knocks = each.map(item => ({ ...item, isTaken: taken.has(item.attempt_id) }))
    const found = await knockAtAttempts(db, knocks, lease, asker?.opened() ?? [])
    const heard = new Map<string, Heard>()
    for (const { is_leased, ...attempt } of found) {
      heard.set(attempt.attempt_id, is_leased ? 'asked' : 'due')
      if (is_leased) asker?.ask(attempt)
    }
    return items.map(({ attempt_id }) => heard.get(attempt_id))
  }
  const batcher = createBatcher<Item, Heard>({ ...limits, isHanging: db.isHanging, run: hearAll })
  // What was not found may be held by somebody, and is waited for.
  const hear = async (item: Item) =>
    (await batcher.add(item)) ??
    ((await promptAttempt(db, item.merchant_id, item.attempt_id, item.now)) ? 'due' : undefined)
  return { hear, askers }
}

type KnockDeps = Pick<PaymentDeps, 'db' | 'clock'> & Partial<Pick<PaymentDeps, 'wake'>>

export const isAttemptId = (text: string) => /^[0-9a-z]{36}$/.test(text)

// A provider knocked at the address that we gave it for one attempt. What it says is not believed: we ask. False when
// there is no such attempt, or nothing left to learn about it.
export async function prompted({ db, clock, wake }: KnockDeps, attempt_id: string): Promise<boolean> {
  if (!isAttemptId(attempt_id)) return false
  const merchant_id = merchantOfToken(attempt_id)
  const heard = await knocksOn(db).hear({ merchant_id, attempt_id, now: clock() })
  if (heard === 'due') wake?.('pollers')
  return heard !== undefined
}
