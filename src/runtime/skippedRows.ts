import { type PaymentKey, paymentName } from '../store/payments/paymentKeys.ts'

const leftOutMs = 5 * 60_000
const most = 10_000

export type SkippedRows = ReturnType<typeof createSkippedRows>
export type OnSkippedRow = (told: { error: unknown; payments: readonly PaymentKey[] }) => void

// Payments that could not be ended. They are not looked for again for a while, or they would come first in every look
// and leave no room for the others. What is the same with many of them is told once.
export function createSkippedRows(onLeftOut: OnSkippedRow) {
  const all = new Map<string, { key: PaymentKey; since: number }>()
  const news = new Map<string, { error: unknown; payments: Map<string, PaymentKey> }>() // by what is said of them

  function forget() {
    const now = performance.now()
    for (const [name, { since }] of all) {
      if (now - since < leftOutMs && all.size <= most) return // the rest is younger
      all.delete(name)
    }
  }

  return {
    size: () => all.size,
    keys(): PaymentKey[] {
      forget()
      return [...all.values()].map(({ key }) => key)
    },
    add(keys: readonly PaymentKey[], error?: unknown) {
      for (const { merchant_id, tx_reference } of keys) {
        const key = { merchant_id, tx_reference }
        const name = paymentName(key)
        all.delete(name) // and set again: the first is the oldest
        all.set(name, { key, since: performance.now() })
        if (error === undefined) continue
        const same = news.get(String(error)) ?? { error, payments: new Map<string, PaymentKey>() }
        news.set(String(error), same)
        same.payments.set(name, key)
      }
    },
    tell() {
      const told = [...news.values()]
      news.clear()
      for (const { error, payments } of told) onLeftOut({ error, payments: [...payments.values()] })
    },
  }
}
