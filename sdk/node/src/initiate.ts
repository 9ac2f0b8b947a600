import { InvalidInputError, OutcomeUnknownError, UnavailableError } from './errors.ts'
import { type Amount, amountText, currencyIn, defaultCurrency } from './money.ts'
import { type Hmac, hex, stringToSign, utf8 } from './signature.ts'
import { type Limits, type MakeRequest, send, type Transport } from './transport.ts'

/**
 * An item of an order. The amounts of all items add up to that of the order.
 *
 * @example
 * const item: LineItem = { name: 'Jollof, large', quantity: 2, total: '60.00' }
 */
export type LineItem = Amount & {
  /** At most 80 characters. */
  name: string
  /** From 1 to 9999, by default 1. It is only shown. */
  quantity?: number | undefined
}

/**
 * An order to be paid.
 *
 * @example
 * const order: Order = {
 *   invoiceId: 'AMA-1042',
 *   total: '25.00',
 *   description: 'Two straw hats',
 *   customer: { name: 'Ama Mensah', phone: '0241234567' },
 *   ipnUrl: 'https://shop.example/ipn',
 *   successUrl: 'https://shop.example/thanks',
 * }
 */
export type Order = Amount & {
  /**
   * Your own id of this payment, 1 to 25 characters. Store it before you call `initiate`: the same id with the same
   * details is the same payment.
   */
  invoiceId: string
  /** By default GHS. */
  currency?: string | undefined
  /** What it is for. The customer sees it. */
  description?: string | undefined
  /** The customer gets a receipt by SMS and email at these addresses. */
  customer?: { name?: string | undefined; phone?: string | undefined; email?: string | undefined } | undefined
  /** The address for notifications, instead of the one in your settings. */
  ipnUrl?: string | undefined
  /** The customer is redirected here after paying. This is never a proof of payment. */
  successUrl?: string | undefined
  /** The customer is redirected here after cancelling. */
  cancelledUrl?: string | undefined
  /** The customer is redirected here instead of `successUrl` while the outcome is unknown. */
  deferredUrl?: string | undefined
  /** The code of one of your outlets. */
  outlet?: string | undefined
  /** At most 10. */
  lineItems?: readonly LineItem[] | undefined
  /**
   * Your own fields, at most 20. A `currency` here with the code of a currency is that of the order, if the order names
   * none. They are returned in `extra` of the payment and of notifications.
   */
  extra?: Readonly<Record<string, string>> | undefined
}

/**
 * A stored payment.
 *
 * @example
 * const { checkoutUrl } = await tollgate.initiate(order)
 * return Response.redirect(checkoutUrl, 303)
 */
export type InitiatedPayment = {
  /** Yours. */
  invoiceId: string
  /** The gateway's reference. It is safe to print. */
  reference: string
  /** Redirect the customer here. Anyone who has the address can open the page. */
  checkoutUrl: string
  /** The last part of `checkoutUrl`. */
  token: string
  /** The gateway's id of this request, for its operator. */
  requestId: string | undefined
}

export async function initiate(
  transport: Transport,
  { merchantKey, hmac }: { merchantKey: string; hmac: Hmac },
  order: Order,
  limits: Limits,
): Promise<InitiatedPayment> {
  const fields = requestFields(merchantKey, order)
  const text = stringToSign(merchantKey, { invoiceId: order.invoiceId, total: fields.total as string })
  // The bytes are made once: every try sends the same ones.
  const body = utf8(JSON.stringify({ ...fields, secure_hash: hex(await hmac(text)) }))
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const request: MakeRequest = async () => ({
    path: '/v1/mobile_agents_v2',
    init: { method: 'POST', headers, body },
  })
  try {
    const { body: stored, requestId } = await send(transport, request, limits)
    const { invoice_id, tx_reference, tx_token, checkout_url } = stored
    if (
      invoice_id !== order.invoiceId ||
      typeof checkout_url !== 'string' ||
      typeof tx_reference !== 'string'
    )
      throw new UnavailableError('The answer is not that of a stored payment.', { requestId })
    const token = String(tx_token)
    return {
      invoiceId: order.invoiceId,
      reference: tx_reference,
      checkoutUrl: checkout_url,
      token,
      requestId,
    }
  } catch (error) {
    throw error instanceof UnavailableError ? new OutcomeUnknownError(order.invoiceId, error) : error
  }
}

// The order in the gateway's names. JSON.stringify leaves out what is undefined.
function requestFields(merchantKey: string, order: Order): Record<string, unknown> {
  const { invoiceId, currency, customer, lineItems, extra } = order
  if (typeof invoiceId !== 'string' || invoiceId === '')
    throw new InvalidInputError('invoiceId', 'is missing. Choose it yourself, and store it with the order.')
  const amountCurrency = currency || (currencyIn(extra?.currency) ?? defaultCurrency) // as the gateway reads it
  return {
    merchant_key: merchantKey,
    invoice_id: invoiceId,
    total: amountText(order, amountCurrency),
    currency,
    description: order.description,
    name: customer?.name,
    number: customer?.phone,
    email: customer?.email,
    ipn_url: order.ipnUrl,
    success_url: order.successUrl,
    cancelled_url: order.cancelledUrl,
    deferred_url: order.deferredUrl,
    extra_outlet: order.outlet,
    line_items: lineItems?.map((item, at) => ({
      name: item.name,
      quantity: item.quantity,
      total: amountText(item, amountCurrency, `lineItems[${at}].total`),
    })),
    ...extraFields(extra),
    generate_checkout_url: true,
  }
}

// The gateway reads these names as details of the payment, not as fields of the merchant.
const reserved = new Set(['outlet', 'name', 'mobile', 'email', 'wallet_issuer_hint'])

function extraFields(extra: Order['extra'] = {}): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(extra)) {
    if (reserved.has(name))
      throw new InvalidInputError(
        `extra.${name}`,
        'has a meaning of its own. Use the field of the order, or another name.',
      )
    if (typeof value !== 'string') throw new InvalidInputError(`extra.${name}`, 'must be text.')
    fields[`extra_${name}`] = value
  }
  return fields
}
