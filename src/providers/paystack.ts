import type { Mode } from '../core/mode.ts'
import type { Order } from '../core/provider/order.ts'
import type { Provider, ProviderAccount, ProviderTiming } from '../core/provider/provider.ts'
import type { Reply } from '../core/provider/reply.ts'
import { readUrl } from '../core/text.ts'
import { type OperatorUrl, operatorUrl } from '../core/urlTrust.ts'
import { localNumber } from './ghana/wallets.ts'
import { acknowledged, checkOrder, otherOrder, type PaystackCall } from './paystack/check.ts'
import {
  checkPaystackCredentials,
  type PaystackClient,
  paystackClient,
  paystackErrorKind,
  type PaystackResponse,
  providerCode,
  unclearPaystackReply,
} from './paystack/client.ts'
import { isWallet, paystackMethods, walletProviders } from './paystack/methods.ts'
import { paystackRefunds, paystackRefundTiming } from './paystack/refunds.ts'
import { askAgain, chargeReply, isEnding, isWrongCode, refusalOf, stepCalled } from './paystack/replies.ts'
import { readPaystackWebhook } from './paystack/webhook.ts'

// Paystack in Ghana: wallets by the Charge API on our page, cards on Paystack's page. The status in a charge reply or a
// webhook is not trusted: only the reply to `verify` ends an attempt.
const seconds = 1000
const minutes = 60 * seconds
const hours = 60 * minutes

const paystack: Provider = {
  settings: [
    {
      name: 'secret_key',
      words:
        'From Settings, API Keys & Webhooks, of the Paystack dashboard. sk_test_... takes test payments, sk_live_... real ones.',
      french:
        'Dans Settings, API Keys & Webhooks, du tableau de bord Paystack. sk_test_... prend des paiements de test, sk_live_... de vrais paiements.',
      isSecret: true,
    },
    {
      name: 'url',
      words: "Paystack's address.",
      french: 'L’adresse de Paystack.',
      usual: 'https://api.paystack.co',
    },
  ],
  open: ({ secret_key = '', url = '' }, { clock, egress }) =>
    open(paystackClient(mustBeUrl(url), secret_key, egress), secret_key, modeOf(secret_key), clock),
}

export default paystack

function modeOf(secretKey: string): Mode {
  const [, mode] = /^sk_(test|live)_[\w-]+$/.exec(secretKey) ?? []
  if (!mode) throw new Error('secret_key must be a secret key of Paystack: sk_test_... or sk_live_...')
  return mode as Mode
}

function mustBeUrl(url: string): OperatorUrl {
  if (!/^https?:\/\//.test(url) || !readUrl(url)) throw new Error('url must be an http or https address')
  return operatorUrl(url)
}

const timing: ProviderTiming = {
  firstPollMs: 10 * seconds, // Paystack asks integrators not to poll earlier
  pollGapsMs: [10, 10, 15, 15, 20, 20, 30, 30, 60, 60, 120, 300].map(gap => gap * seconds),
  startTimeoutMs: 30 * seconds,
  pollTimeoutMs: 15 * seconds,
}

const open = (client: PaystackClient, secretKey: string, mode: Mode, clock: () => Date): ProviderAccount => ({
  mode,
  account: `paystack ${mode}`, // transaction ids are unique across all businesses
  startIsIdempotent: true, // a used reference is refused
  visibleWithinMs: 5 * minutes, // how soon `verify` finds a new charge is not documented
  failureMayReverseForMs: 24 * hours,
  timing,
  methods: paystackMethods,
  start: (order, signal) => start({ client, clock, order, signal }),
  check: (order, signal) => checkOrder({ client, clock, order, signal }),
  submit: (order, step, input, signal) => submit({ client, clock, order, signal }, step, input),
  refunds: paystackRefunds(client),
  refundTiming: paystackRefundTiming,
  handleWebhook: webhook => readPaystackWebhook(webhook, secretKey),
  checkCredentials: signal => checkPaystackCredentials(client, mode, signal),
})

async function start(call: PaystackCall): Promise<Reply> {
  const { client, order, signal } = call
  const { email } = order
  if (!email) return { state: 'not_sent', words: 'Paystack wants an email address, and the order has none.' }
  const response = isWallet(order)
    ? await client.send('/charge', chargeOf(order, email), signal)
    : await client.send('/transaction/initialize', pageOf(order, email), signal)
  const kind = paystackErrorKind(response)
  if (kind === 'key_refused') return keyRefused(response)
  if (kind === 'duplicate') return checkKnown(call)
  const reason = isRequestRefused(response) ? refusalOf(response.message) : undefined
  if (reason)
    return { state: 'failed', reason, psp_response_msg: response.message, ...providerCode(response) }
  return isWallet(order) ? replyOfCharge(call, response) : replyOfPage(order, response)
}

async function submit(
  call: PaystackCall,
  name: string,
  input: Readonly<Record<string, string>>,
): Promise<Reply> {
  const { client, order, signal } = call
  const step = stepCalled(name)
  if (!step) return { state: 'unknown', words: 'Paystack has no such step.' }
  const value = localNumber(input[step.field.name] ?? '')
  const body = { [step.parameter]: value, reference: order.idempotency_key }
  const response = await client.send(step.path, body, signal)
  if (isWrongCode(response) && !isEnding(response.data)) return askAgain(step, response.message)
  if (/session timeout exceeded/i.test(response.message)) return checkKnown(call)
  return replyOfCharge(call, response)
}

// The reply to a charge or to a submitted step.
async function replyOfCharge(call: PaystackCall, response: PaystackResponse): Promise<Reply> {
  const { http, data } = response
  if (http >= 500 || paystackErrorKind(response) === 'rate_limited' || typeof data.status !== 'string')
    return response.isHandled ? acknowledged(unclearPaystackReply(response)) : unclearPaystackReply(response)
  if (isEnding(data) && data.reference === undefined) return checkOrder(call)
  if (data.reference !== call.order.idempotency_key) return otherOrder
  return isEnding(data) ? checkKnown(call) : chargeReply(call.order, data)
}

// The status of an order that Paystack has shown to have.
async function checkKnown(call: PaystackCall): Promise<Reply> {
  const reply = await acknowledged(checkOrder(call))
  return reply.state === 'absent'
    ? { state: 'unknown', words: 'Paystack has the order, and does not find it.', acknowledged: true }
    : reply
}

function replyOfPage({ idempotency_key }: Order, response: PaystackResponse): Reply {
  const { authorization_url, reference } = response.data
  if (!response.isHandled) return unclearPaystackReply(response)
  if (reference !== idempotency_key) return otherOrder
  return typeof authorization_url === 'string'
    ? { state: 'pending', redirect_url: authorization_url }
    : { state: 'unknown', words: 'no address of the payment page', acknowledged: true }
}

// The key is checked before the order is read. 403: the dashboard may restrict calls to known IP addresses.
const keyRefused = (response: PaystackResponse): Reply => ({
  state: 'not_sent',
  words: `Paystack does not accept the secret key (HTTP ${response.http}).`,
  isRefusal: true,
  ...providerCode(response),
})

// Paystack refused the request itself and created no charge.
const isRequestRefused = ({ http, data }: PaystackResponse) =>
  (http === 400 || http === 422) && typeof data.status !== 'string'

const transactionOf = (order: Order, email: string) => ({
  email,
  amount: Number(order.amount), // exact: no order has 16 digits
  currency: order.currency,
  reference: order.idempotency_key,
})

const metadataOf = ({ tx_reference, invoice_id, merchant_name }: Order) => ({
  tx_reference,
  invoice_id,
  merchant_name,
})

const chargeOf = (order: Order, email: string) => ({
  ...transactionOf(order, email),
  mobile_money: {
    phone: localNumber(order.given.phone ?? ''),
    provider: walletProviders[order.payment_method],
  },
  metadata: metadataOf(order),
})

// A customer who cancels on the page also returns to us.
const pageOf = (order: Order, email: string) => ({
  ...transactionOf(order, email),
  channels: ['card'],
  callback_url: order.return_url,
  metadata: { ...metadataOf(order), cancel_action: order.return_url },
})
