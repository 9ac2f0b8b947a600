import { isOnOrigins, type MerchantSettings, ownOrigins } from '../merchant/settings.ts'
import { leastIn, mostIn } from '../merchant/totalLimit.ts'
import { formatMoney, usualCurrency } from '../money.ts'
import { malformed, type Refusal } from './refusal.ts'
import { maxInvoiceLength, type PaymentRequest } from './request.ts'

const addresses = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url'] as const
type Address = (typeof addresses)[number]

// What the merchant's settings say about a request that is well-formed in itself. The hash covers neither currency nor
// addresses, and both may pass through a customer's hands: only what the merchant has named passes.
export function settingsRefuse(
  settings: MerchantSettings,
  outlets: ReadonlySet<string>,
  request: PaymentRequest,
): Refusal | undefined {
  const { allowed_origins, currencies, long_invoice_ids } = settings
  if (request.invoice_id.length > maxInvoiceLength && !long_invoice_ids)
    return malformed('invoice_id', `at most ${maxInvoiceLength} characters`)
  const currency = request.currency ?? usualCurrency
  if (!currencies.includes(currency)) return otherCurrency(settings)
  const least = leastIn(settings.min_total, currency)
  const most = mostIn(settings.max_total, currency)
  if (request.total < least || request.total > most)
    return malformed(
      'total',
      `must be from ${formatMoney(least, currency)} to ${formatMoney(most, currency)}`,
    )
  if (request.extra_outlet !== undefined && !outlets.has(request.extra_outlet))
    return malformed('extra_outlet', 'this merchant has no such outlet')
  const elsewhere = allowed_origins.length > 0 && addresses.find(isElsewhere(request, allowed_origins))
  if (elsewhere) return malformed(elsewhere, 'is not on one of the origins registered for this merchant')
  return foreignIpnUrl(settings, request)
}

const isElsewhere = (request: PaymentRequest, origins: readonly string[]) => (field: Address) => {
  const url = request[field]
  return url !== undefined && !isOnOrigins(url, origins)
}

// Whichever way a request comes: what a form has signed is accepted by every endpoint, with another ipn_url too.
function foreignIpnUrl(settings: MerchantSettings, request: PaymentRequest): Refusal | undefined {
  const { ipn_style, form_ipn_url } = settings
  if (ipn_style !== 'basic' && form_ipn_url !== 'registered') return undefined
  if (!isElsewhere(request, ownOrigins(settings))('ipn_url')) return undefined
  return malformed(
    'ipn_url',
    "is on neither an origin registered for this merchant nor that of the merchant's own ipn_url",
  )
}

export const otherCurrency = ({ currencies }: MerchantSettings) =>
  malformed(
    'currency',
    `this merchant takes ${anyOf(currencies)}; a request without a currency is in ${usualCurrency}`,
  )

const anyOf = (words: readonly string[]) =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : (words[0] ?? '')
