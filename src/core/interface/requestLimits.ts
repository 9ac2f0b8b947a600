import { isOnOrigins, type MerchantSettings, ownOrigins } from '../merchant/settings.ts'
import { leastIn, mostIn } from '../merchant/totalLimit.ts'
import { formatMoney, defaultCurrency } from '../money.ts'
import { isTaken, takenPrefix } from '../payment/takenPayment.ts'
import { malformed, type Refusal } from './refusal.ts'
import { maxInvoiceLength, type PaymentRequest } from './request.ts'

const addresses = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url'] as const
type Address = (typeof addresses)[number]

// Checks a valid request against the settings of its merchant. The hash covers neither the currency nor the addresses,
// and both may pass through the customer's browser, so only values that the merchant has registered are accepted.
export function checkSettings(
  settings: MerchantSettings,
  outlets: ReadonlySet<string>,
  request: PaymentRequest,
): Refusal | undefined {
  const { allowed_origins, currencies, long_invoice_ids } = settings
  if (request.invoice_id.length > maxInvoiceLength && !long_invoice_ids)
    return malformed('invoice_id', `at most ${maxInvoiceLength} characters`)
  const currency = request.currency ?? defaultCurrency
  if (!currencies.includes(currency)) return unsupportedCurrency(settings)
  const least = leastIn(settings.min_total, currency)
  const most = mostIn(settings.max_total, currency)
  if (request.total < least || request.total > most)
    return malformed(
      'total',
      `must be from ${formatMoney(least, currency)} to ${formatMoney(most, currency)}`,
    )
  if (request.extra_outlet !== undefined && !outlets.has(request.extra_outlet))
    return malformed('extra_outlet', 'this merchant has no such outlet')
  const foreign = allowed_origins.length > 0 && addresses.find(isForeign(request, allowed_origins))
  if (foreign) return malformed(foreign, 'is not on one of the origins registered for this merchant')
  return foreignIpnUrl(settings, request)
}

// Payments that are taken at the counter have these ids.
export const reservedInvoice = (request: Pick<PaymentRequest, 'invoice_id'>): Refusal | undefined =>
  isTaken(request)
    ? malformed(
        'invoice_id',
        `must not begin with ${takenPrefix}, which is for payments taken on the dashboard`,
      )
    : undefined

const isForeign = (request: PaymentRequest, origins: readonly string[]) => (field: Address) => {
  const url = request[field]
  return url !== undefined && !isOnOrigins(url, origins)
}

// The check applies to every endpoint: the signature of a form's request is valid everywhere, also with another ipn_url.
function foreignIpnUrl(settings: MerchantSettings, request: PaymentRequest): Refusal | undefined {
  const { ipn_style, form_ipn_url } = settings
  if (ipn_style !== 'basic' && form_ipn_url !== 'registered') return undefined
  if (!isForeign(request, ownOrigins(settings))('ipn_url')) return undefined
  return malformed(
    'ipn_url',
    "is on neither an origin registered for this merchant nor that of the merchant's own ipn_url",
  )
}

export const unsupportedCurrency = ({ currencies }: MerchantSettings) =>
  malformed(
    'currency',
    `this merchant takes ${orList(currencies)}; a request without a currency is in ${defaultCurrency}`,
  )

const orList = (names: readonly string[]) =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : (names[0] ?? '')
