import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { promptAttempt } from '../../store/payments/attempts.ts'
import type { PollLease, DueAttempt } from '../../store/payments/dueAttempts.ts'
import { readAttemptStates, recordCallbacks } from '../../store/payments/callbacks.ts'
import type { PaymentDeps } from '../payments/deps.ts'

// Who asks in this process.
export type Poller = {
  room(): number
  lease(now: Date): PollLease
  opened(): readonly OpenedIdentity[] // attempts of other accounts are left to other nodes
  poll(attempt: DueAttempt): void
}

type Item = { merchant_id: string; attempt_id: string; now: Date }
// Asked by us and now; due for whoever looks; paid, so that nothing is left to ask; held by another transaction;
// undefined: there is no such attempt.
type CallbackOutcome = 'asked' | 'due' | 'paid' | 'held' | undefined
// Callbacks from an address that sent many unknown ids have a queue and a connection quota of their own, so that they
// hold up no others.
export type CallbackQueue = 'usual' | 'suspect'
export type ProviderCallbacks = {
  record(item: Item, queue?: CallbackQueue): Promise<CallbackOutcome>
  pollers: Set<Poller>
}

const limits = { maxRows: 100, maxInFlight: 1, maxQueued: 5000 } // one: room is counted between two
const made = new WeakMap<Db, ProviderCallbacks>()

// Callbacks that come together are written down by one statement. Where somebody in this process has room to ask, it also
// takes them. Whether an unknown id is unknown is part of the same batch: it costs no statement of its own.
export function callbacksOn(shared: Db): ProviderCallbacks {
  const knocks = made.get(shared) ?? createCallbacks(shared)
  made.set(shared, knocks)
  return knocks
}

function createCallbacks(shared: Db): ProviderCallbacks {
  const askers = new Set<Poller>()
  const queues: Record<CallbackQueue, (item: Item) => Promise<CallbackOutcome>> = {
    usual: createQueue(shared.withQuota('knock'), askers),
    suspect: createQueue(shared.withQuota('suspect_callback'), askers),
  }
  return { record: (item, queue = 'usual') => queues[queue](item), pollers: askers }
}

function createQueue(db: Db, askers: ReadonlySet<Poller>) {
  async function recordAll(items: readonly Item[]): Promise<CallbackOutcome[]> {
    const [asker] = askers
    const room = asker?.room() ?? 0
    const each = [...new Map(items.map(item => [item.attempt_id, item])).values()] // one poll per attempt, however many callbacks came
    const now = new Date(Math.max(...each.map(item => item.now.getTime())))
    const lease = asker?.lease(now) ?? { now, until: now }
    const taken = new Set(each.slice(0, room).map(({ attempt_id }) => attempt_id))
    const knocks = each.map(item => ({ ...item, isTaken: taken.has(item.attempt_id) }))
    const found = await recordCallbacks(db, knocks, lease, asker?.opened() ?? [])
    const heard = new Map<string, CallbackOutcome>()
    for (const { is_leased, ...attempt } of found) {
      heard.set(attempt.attempt_id, is_leased ? 'asked' : 'due')
      if (is_leased) asker?.poll(attempt)
    }
    const notTaken = each.filter(({ attempt_id }) => !heard.has(attempt_id))
    for (const { attempt_id, state } of notTaken.length > 0 ? await readAttemptStates(db, notTaken) : [])
      heard.set(attempt_id, state === 'paid' ? 'paid' : 'held')
    return items.map(({ attempt_id }) => heard.get(attempt_id))
  }
  const batcher = createBatcher<Item, CallbackOutcome>({ ...limits, isHanging: db.isHanging, run: recordAll })
  // An attempt that another transaction holds is waited for.
  return async (item: Item): Promise<CallbackOutcome> => {
    const heard = await batcher.add(item)
    if (heard !== 'held') return heard
    return (await promptAttempt(db, item.merchant_id, item.attempt_id, item.now)) ? 'due' : 'paid'
  }
}

type CallbackDeps = Pick<PaymentDeps, 'db' | 'clock'> & Partial<Pick<PaymentDeps, 'wake'>>

export const isAttemptId = (text: string) => /^[0-9a-z]{36}$/.test(text)

// A provider called the callback address of one attempt. Its content is not trusted: it only makes us poll. False when
// there is no such attempt, or nothing left to learn about it.
export const promptPoll = async (deps: CallbackDeps, attempt_id: string): Promise<boolean> =>
  (await handleCallback(deps, attempt_id)) === 'prompted'

// `nothing_to_ask`: the attempt is paid. `unknown`: there is no such attempt.
export type CallbackResult = 'prompted' | 'nothing_to_ask' | 'unknown'

export async function handleCallback(
  { db, clock, wake }: CallbackDeps,
  attempt_id: string,
  queue?: CallbackQueue,
): Promise<CallbackResult> {
  if (!isAttemptId(attempt_id)) return 'unknown'
  const merchant_id = merchantOfToken(attempt_id)
  const heard = await callbacksOn(db).record({ merchant_id, attempt_id, now: clock() }, queue)
  if (heard === undefined) return 'unknown'
  if (heard === 'due') wake?.('pollers')
  return heard === 'paid' ? 'nothing_to_ask' : 'prompted'
}
