import { createBatcher } from '../../../runtime/batcher.ts'
import { sharedDeadline } from '../../../runtime/deadline.ts'
import { isAlreadyThere } from '../../../store/databaseErrors.ts'
import type { Db, Tx } from '../../../store/db.ts'
import type { Patience } from '../../../store/payments/locks.ts'
import { type PaymentKey, paymentName } from '../../../store/payments/paymentKeys.ts'
import { writersOn, type Write, writeChanges } from './writing.ts'

export type DecisionOutcome<Answer> = { answer: Answer } | { error: unknown }

// In one transaction: takes the locks, decides about each by itself and writes all of it. The items are in the order of
// arrival. An item without an outcome is locked by another transaction.
export type Decide<Item, Answer> = (
  tx: Tx,
  items: readonly Item[],
  patience: Patience,
  write: Write,
) => Promise<Map<Item, DecisionOutcome<Answer>>>

const clashes = 3 // with what others have written in the meantime
const limits = { maxRows: 100, maxInFlight: 2, maxQueued: 5000 }

// Decisions about different payments that come together share a transaction and its commit, after which each hears its
// own answer. Nobody waits there for a row that somebody else holds, nor for the row of a neighbour: such a one is decided
// alone, in a transaction that waits.
export function groupTransactions<Item extends PaymentKey, Answer>(
  db: Db,
  verb: string,
  decide: Decide<Item, Answer>,
  groupsOf?: (item: Item) => string[], // items of one group are never in two batches at once
): (item: Item) => Promise<Answer> {
  async function together(items: Item[]) {
    try {
      const own = db.withDeadline(sharedDeadline())
      const outcomes = await writeChanges(own, writersOn(db), (tx, write) =>
        decide(tx, items, 'skipping', write),
      )
      return items.map(item => outcomes.get(item))
    } catch (error) {
      if (!isAlreadyThere(error)) throw error
      return items.map(() => undefined)
    }
  }

  async function alone(item: Item, tries = 1): Promise<DecisionOutcome<Answer>> {
    try {
      const own = db.withQuota(verb).withDeadline(sharedDeadline())
      const outcomes = await writeChanges(own, writersOn(db), (tx, write) =>
        decide(tx, [item], 'waiting', write),
      )
      return outcomes.get(item) ?? { error: new Error('there is no such payment') }
    } catch (error) {
      if (!isAlreadyThere(error) || tries === clashes) throw error
      return alone(item, tries + 1)
    }
  }

  const batcher = createBatcher<Item, DecisionOutcome<Answer> | undefined>({
    ...limits,
    groupsOf,
    isHanging: db.isHanging,
    run: together,
  })
  return async item => {
    const outcome = (await batcher.add(item)) ?? (await alone(item))
    if ('error' in outcome) throw outcome.error
    return outcome.answer
  }
}

// The first item of each payment, in the order of arrival. What is written of a payment is written once.
export function oneFromEach<Item extends PaymentKey>(items: readonly Item[]): Item[] {
  const firsts = new Map<string, Item>()
  for (const item of items) if (!firsts.has(paymentName(item))) firsts.set(paymentName(item), item)
  return [...firsts.values()]
}

// Transactions write in this order, so that two of them that meet do not deadlock.
export const byName = (a: PaymentKey, b: PaymentKey) => (paymentName(a) < paymentName(b) ? -1 : 1)

// What is wrong with one is told to it alone.
export function outcomeOf<Answer>(decide: () => Answer): DecisionOutcome<Answer> {
  try {
    return { answer: decide() }
  } catch (error) {
    return { error }
  }
}

// One statement for each merchant, all on their way at once.
export async function eachMerchant<Item extends PaymentKey, Row>(
  items: readonly Item[],
  ask: (merchant_id: string, some: readonly Item[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const own = (merchant_id: string) => items.filter(item => item.merchant_id === merchant_id)
  const merchants = [...new Set(items.map(({ merchant_id }) => merchant_id))]
  return (await Promise.all(merchants.map(merchant_id => ask(merchant_id, own(merchant_id))))).flat()
}
