import type { OpenedIdentity } from '../../core/channel/accountIdentity.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { promptAttempt } from '../../store/payments/attempts.ts'
import type { AskLease, DueAttempt } from '../../store/payments/dueAttempts.ts'
import { attemptStates, knockAtAttempts } from '../../store/payments/knocks.ts'
import type { PaymentDeps } from '../payments/deps.ts'

// Who asks in this process.
export type Asker = {
  room(): number
  lease(now: Date): AskLease
  opened(): readonly OpenedIdentity[] // attempts of other accounts are left to other nodes
  ask(attempt: DueAttempt): void
}

type Item = { merchant_id: string; attempt_id: string; now: Date }
// Asked by us and now; due for whoever looks; paid, so that nothing is left to ask; held by another transaction;
// undefined: there is no such attempt.
type Heard = 'asked' | 'due' | 'paid' | 'held' | undefined
// Callbacks from an address that sent many unknown ids have a queue and a connection quota of their own, so that they
// hold up no others.
export type CallbackQueue = 'usual' | 'suspect'
export type Knocks = { hear(item: Item, queue?: CallbackQueue): Promise<Heard>; askers: Set<Asker> }

const limits = { maxRows: 100, maxInFlight: 1, maxQueued: 5000 } // one: room is counted between two
const made = new WeakMap<Db, Knocks>()

// Knocks that come together are written down by one statement. Where somebody in this process has room to ask, it also
// takes them. Whether an unknown id is unknown is part of the same batch: it costs no statement of its own.
export function knocksOn(shared: Db): Knocks {
  const knocks = made.get(shared) ?? createKnocks(shared)
  made.set(shared, knocks)
  return knocks
}

function createKnocks(shared: Db): Knocks {
  const askers = new Set<Asker>()
  const queues: Record<CallbackQueue, (item: Item) => Promise<Heard>> = {
    usual: createQueue(shared.share('knock'), askers),
    suspect: createQueue(shared.share('suspect_callback'), askers),
  }
  return { hear: (item, queue = 'usual') => queues[queue](item), askers }
}

function createQueue(db: Db, askers: ReadonlySet<Asker>) {
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
    const notTaken = each.filter(({ attempt_id }) => !heard.has(attempt_id))
    for (const { attempt_id, state } of notTaken.length > 0 ? await attemptStates(db, notTaken) : [])
      heard.set(attempt_id, state === 'paid' ? 'paid' : 'held')
    return items.map(({ attempt_id }) => heard.get(attempt_id))
  }
  const batcher = createBatcher<Item, Heard>({ ...limits, isHanging: db.isHanging, run: hearAll })
  // An attempt that another transaction holds is waited for.
  return async (item: Item): Promise<Heard> => {
    const heard = await batcher.add(item)
    if (heard !== 'held') return heard
    return (await promptAttempt(db, item.merchant_id, item.attempt_id, item.now)) ? 'due' : 'paid'
  }
}

type KnockDeps = Pick<PaymentDeps, 'db' | 'clock'> & Partial<Pick<PaymentDeps, 'wake'>>

export const isAttemptId = (text: string) => /^[0-9a-z]{36}$/.test(text)

// A provider knocked at the address that we gave it for one attempt. What it says is not believed: we ask. False when
// there is no such attempt, or nothing left to learn about it.
export const prompted = async (deps: KnockDeps, attempt_id: string): Promise<boolean> =>
  (await callBack(deps, attempt_id)) === 'prompted'

// `nothing_to_ask`: the attempt is paid. `unknown`: there is no such attempt.
export type CallbackResult = 'prompted' | 'nothing_to_ask' | 'unknown'

export async function callBack(
  { db, clock, wake }: KnockDeps,
  attempt_id: string,
  queue?: CallbackQueue,
): Promise<CallbackResult> {
  if (!isAttemptId(attempt_id)) return 'unknown'
  const merchant_id = merchantOfToken(attempt_id)
  const heard = await knocksOn(db).hear({ merchant_id, attempt_id, now: clock() }, queue)
  if (heard === undefined) return 'unknown'
  if (heard === 'due') wake?.('pollers')
  return heard === 'paid' ? 'nothing_to_ask' : 'prompted'
}
