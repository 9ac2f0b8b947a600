import type { StoredLineItem } from '../lineItems.ts'
import { maskEmail, maskName, maskNumbers, maskPhone } from '../mask.ts'
import type { Mode } from '../mode.ts'
import { formatMoney } from '../money.ts'
import type { NewPayment, Payment } from '../payment/payment.ts'
import { readUrl } from '../text.ts'
import type { FieldDifference } from './refusal.ts'

type Compared = Omit<NewPayment, 'request_digest'>

// By the wire name of each field: how it is compared and shown.
const shownFields: Record<string, (payment: Compared) => string | null> = {
  total: ({ total, currency }) => formatMoney(total, currency),
  currency: ({ currency }) => currency,
  success_url: ({ success_url }) => success_url,
  cancelled_url: ({ cancelled_url }) => cancelled_url,
  deferred_url: ({ deferred_url }) => deferred_url,
  ipn_url: ({ ipn_url }) => ipn_url,
  number: ({ number }) => number,
  email: ({ email }) => email,
  name: ({ name }) => name,
  description: ({ description }) => description,
  line_items: ({ line_items }) => line_items && JSON.stringify(line_items.map(itemFields)),
  extra_outlet: ({ outlet }) => outlet,
  pymt_instrument: ({ pymt_instrument }) => pymt_instrument,
  extra_wallet_issuer_hint: ({ wallet_issuer_hint }) => wallet_issuer_hint,
}

const itemFields = (item: StoredLineItem) => Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))

// These are removed from a payment some time after it has ended, so they cannot be compared any more.
const redactedFields = new Set([
  'name',
  'email',
  'number',
  'pymt_instrument',
  'description',
  'line_items',
  'success_url',
  'cancelled_url',
  'deferred_url',
  'ipn_url',
])

const maxShown = 200

// The fields of a repeated request that differ from the stored one.
export function requestDifferences(stored: Payment, sent: NewPayment, mode: Mode): FieldDifference[] {
  const isRedacted = stored.redacted_at !== null
  const names = Object.keys(shownFields).filter(name => !isRedacted || !redactedFields.has(name))
  const differences = names.flatMap(field => {
    const [before, after] = [shownFields[field]?.(stored) ?? null, shownFields[field]?.(sent) ?? null]
    return before === after ? [] : [difference(field, before, after, mode)]
  })
  if (isRedacted) return differences
  const extras = new Set([...Object.keys(stored.extra), ...Object.keys(sent.extra)])
  for (const name of [...extras].toSorted()) {
    const [before, after] = [stored.extra[name] ?? null, sent.extra[name] ?? null]
    if (before !== after) differences.push(difference(`extra_${name}`, before, after, mode))
  }
  if (differences.length > 0) return differences
  return [{ field: 'voucher_code' }] // the only compared field that is not stored
}

const difference = (
  field: string,
  stored: string | null,
  sent: string | null,
  mode: Mode,
): FieldDifference =>
  mode === 'test' ? { field, stored: masked(field, stored), sent: masked(field, sent) } : { field }

function masked(field: string, value: string | null): string | null {
  if (value === null) return null
  if (field === 'number' || field === 'pymt_instrument') return maskPhone(value)
  if (field === 'email') return maskEmail(value)
  if (field === 'name' || (field.startsWith('extra_') && !(field in shownFields))) return maskName(value)
  if (field.endsWith('_url')) return withoutQuery(value).slice(0, maxShown)
  return (field === 'description' ? maskNumbers(value) : value).slice(0, maxShown)
}

// A query may identify the customer.
function withoutQuery(text: string): string {
  const url = readUrl(text)
  return url && (url.search || url.hash) ? `${url.origin}${url.pathname}?•••` : text
}
