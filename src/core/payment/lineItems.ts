// What a payment is for, line by line, as the shop lists it. The totals make up the payment's own.
export type LineItem = { name: string; quantity: number; total: bigint }

// As the database has them: minor units are text there, because JSON has no number that is large enough.
export type StoredLineItem = { name: string; quantity: number; total: string }

export const toStore = (items: readonly LineItem[]): StoredLineItem[] =>
  items.map(({ name, quantity, total }) => ({ name, quantity, total: String(total) }))

// What somebody has changed by hand to something else is not shown: the page stands without it.
export function fromStore(stored: unknown): LineItem[] | null {
  if (!Array.isArray(stored) || stored.length === 0 || !stored.every(isStored)) return null
  return stored.map(({ name, quantity, total }) => ({ name, quantity, total: BigInt(total) }))
}

function isStored(item: unknown): item is StoredLineItem {
  if (typeof item !== 'object' || item === null) return false
  const { name, quantity, total } = item as Record<string, unknown>
  return typeof name === 'string' && Number.isInteger(quantity) && /^\d{1,18}$/.test(String(total))
}
