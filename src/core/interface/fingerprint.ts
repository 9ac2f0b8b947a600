import { usualCurrency } from '../money.ts'
import { type PaymentRequest, requestSchema } from './request.ts'

// The meaning of a request, spelled one way, so that a repeated request can be told from another one.
// Absent fields leave no trace: a field that we learn to read later changes no earlier spelling.
export function requestFingerprint(request: PaymentRequest): string {
  const pairs: [string, string][] = []
  for (const name of meaningful) {
    const value = request[name] ?? (name === 'currency' ? usualCurrency : undefined)
    if (value !== undefined) pairs.push([name, spell(value)])
  }
  for (const name of Object.keys(request.extra).sort())
    pairs.push([`extra_${name}`, request.extra[name] as string])
  return JSON.stringify(pairs)
}

// Lists as JSON, with money as digits.
const spell = (value: unknown) =>
  Array.isArray(value)
    ? JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
    : String(value)

const silent = new Set(['merchant_key', 'invoice_id', 'secure_hash', 'generate_checkout_url'])
const meaningful = (Object.keys(requestSchema.shape) as (keyof typeof requestSchema.shape)[])
  .filter(name => !silent.has(name))
  .sort()
