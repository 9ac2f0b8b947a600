import { isUnavailable } from '../store/databaseErrors.ts'
import { type PaymentKey, paymentName } from '../store/payments/paymentKeys.ts'

const skipMs = 5 * 60_000
const maxRows = 10_000

export type SkippedRows = ReturnType<typeof createSkippedRows>
export type OnSkippedRow = (failure: { error: unknown; payments: readonly PaymentKey[] }) => void

// Payments that failed in a batch. They are left out of the batches of the next minutes: otherwise they would be the first
// of every batch and leave no room for other payments. Payments with the same error are reported together.
export function createSkippedRows(onSkipped: OnSkippedRow) {
  const all = new Map<string, { key: PaymentKey; since: number }>() // oldest first
  const unreported = new Map<string, { error: unknown; payments: Map<string, PaymentKey> }>() // by error text

  function removeOld() {
    const now = performance.now()
    for (const [name, { since }] of all) {
      if (now - since < skipMs && all.size <= maxRows) return
      all.delete(name)
    }
  }

  return {
    size: () => all.size,
    keys(): PaymentKey[] {
      removeOld()
      return [...all.values()].map(({ key }) => key)
    },
    add(keys: readonly PaymentKey[], error?: unknown) {
      for (const { merchant_id, tx_reference } of keys) {
        const key = { merchant_id, tx_reference }
        const name = paymentName(key)
        all.delete(name) // and set again, so that it becomes the newest
        all.set(name, { key, since: performance.now() })
        if (error === undefined) continue
        const same = unreported.get(String(error)) ?? { error, payments: new Map<string, PaymentKey>() }
        unreported.set(String(error), same)
        same.payments.set(name, key)
      }
    },
    report() {
      const failures = [...unreported.values()]
      unreported.clear()
      for (const { error, payments } of failures) onSkipped({ error, payments: [...payments.values()] })
    },
  }
}

// One payment made a batch fail, and the error does not contain which. Runs the batch in halves, and these in halves, until
// the payment is alone, and adds it to `skipped`. Returns how many payments succeeded.
export async function bisectBatch(
  keys: readonly PaymentKey[],
  work: (some: readonly PaymentKey[]) => Promise<number>,
  skipped: SkippedRows,
): Promise<number> {
  const half = Math.ceil(keys.length / 2)
  let done = 0
  for (const some of [keys.slice(0, half), keys.slice(half)])
    try {
      done += some.length > 0 ? await work(some) : 0
    } catch (error) {
      if (isUnavailable(error)) throw error
      if (some.length === 1) skipped.add(some, error)
      else done += await bisectBatch(some, work, skipped)
    }
  return done
}
