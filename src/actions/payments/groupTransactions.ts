import { createBatcher } from '../../runtime/batcher.ts'
import { sharedDeadline } from '../../runtime/deadline.ts'
import type { LocalWorkers } from '../../runtime/localWorkers.ts'
import { isAlreadyThere, isUnsupported } from '../../store/databaseErrors.ts'
import type { Db, Tx } from '../../store/db.ts'
import type { LockMode } from '../../store/payments/locks.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { isSharded } from '../../store/skipLocked.ts'
import { type Write, writeChanges } from './writeChanges.ts'

export type DecisionOutcome<Answer> = { answer: Answer } | { error: unknown }

// Runs in one transaction: locks the payments, decides about each item separately and writes all changes. The items are in
// the order of arrival. If an item has no outcome, another transaction has locked its payment.
type Decide<Item, Answer> = (
  tx: Tx,
  items: readonly Item[],
  mode: LockMode,
  write: Write,
) => Promise<Map<Item, DecisionOutcome<Answer>>>

const maxTries = 3 // of an item whose insert violates a unique key, because another transaction was faster
const limits = { maxRows: 100, maxInFlight: 2, maxQueued: 5000 }

// Decisions about different payments that arrive together share a transaction and its commit. Each caller gets its own
// answer after the commit. The shared transaction skips payments that other transactions have locked, and takes one item
// of each payment. The remaining items are decided one by one, in transactions that wait for the lock.
export function groupTransactions<Item extends PaymentKey, Answer>(
  db: Db,
  local: LocalWorkers,
  quota: string, // the connection quota of items that are decided alone
  decide: Decide<Item, Answer>,
  groupsOf?: (item: Item) => string[], // items of one group are never in two batches at once
): (item: Item) => Promise<Answer> {
  async function decideTogether(items: Item[]): Promise<(DecisionOutcome<Answer> | undefined)[]> {
    const wasSharded = isSharded(db)
    const mode = wasSharded ? 'by_merchant' : 'skipping'
    try {
      const limited = db.withDeadline(sharedDeadline())
      const outcomes = await writeChanges(limited, local, (tx, write) => decide(tx, items, mode, write))
      return items.map(item => outcomes.get(item))
    } catch (error) {
      if (isUnsupported(error) && !wasSharded) {
        db.locks.strategy = { state: 'unsupported' }
        return decideTogether(items)
      }
      if (!isAlreadyThere(error)) throw error
      return items.map(() => undefined)
    }
  }

  async function decideAlone(item: Item, tries = 1): Promise<DecisionOutcome<Answer>> {
    try {
      const limited = db.withQuota(quota).withDeadline(sharedDeadline())
      const outcomes = await writeChanges(limited, local, (tx, write) => decide(tx, [item], 'waiting', write))
      return outcomes.get(item) ?? { error: new Error('the payment does not exist') }
    } catch (error) {
      if (!isAlreadyThere(error) || tries === maxTries) throw error
      return decideAlone(item, tries + 1)
    }
  }

  const batcher = createBatcher<Item, DecisionOutcome<Answer> | undefined>({
    ...limits,
    groupsOf,
    isHanging: db.isHanging,
    run: decideTogether,
  })
  return async item => {
    const outcome = (await batcher.add(item)) ?? (await decideAlone(item))
    if ('error' in outcome) throw outcome.error
    return outcome.answer
  }
}

// The first item of each payment, in the order of arrival: a transaction writes a payment once.
export function oneFromEach<Item extends PaymentKey>(items: readonly Item[]): Item[] {
  const firsts = new Map<string, Item>()
  for (const item of items) if (!firsts.has(paymentName(item))) firsts.set(paymentName(item), item)
  return [...firsts.values()]
}

// An error of one item fails only that item.
export function outcomeOf<Answer>(decide: () => Answer): DecisionOutcome<Answer> {
  try {
    return { answer: decide() }
  } catch (error) {
    return { error }
  }
}
