import type { ProviderAccount, Provider, ProviderTools } from '../core/provider/provider.ts'
import type { Order } from '../core/provider/order.ts'
import type { Reply } from '../core/provider/reply.ts'
import type { Mode } from '../core/mode.ts'
import { localNumber } from './ghana/wallets.ts'
import { askAgain, chargeReply, isEnding, isWrongCode, stepCalled } from './paystack/charge.ts'
import { acknowledged, checkOrder, otherOrder } from './paystack/check.ts'
import {
  isDuplicate,
  isKeyRefused,
  isTooMuch,
  type PaystackClient,
  paystackClient,
  providerCode,
  type PaystackResponse,
  unclearPaystackReply,
} from './paystack/client.ts'
import { refusalOf } from './paystack/reasons.ts'
import { checkPaystackCredentials } from './paystack/checkCredentials.ts'
import { isWallet, providers, paystackMethods } from './paystack/methods.ts'
import { readPaystackWebhook } from './paystack/webhook.ts'
import { readUrl } from '../core/text.ts'
import { type OperatorUrl, operatorUrl } from '../core/urlTrust.ts'

// The line to Paystack in Ghana: wallets by its Charge API on our page, cards on its own page. What a charge or a webhook
// says is not believed: only its answer to `verify` is a yes or a no.
const seconds = 1000
const minutes = 60 * seconds
const hours = 60 * minutes

const paystack: Provider = {
  settings: [
    {
      name: 'secret_key',
      words:
        'From Settings, API Keys & Webhooks, of the Paystack dashboard. sk_test_... takes test payments, sk_live_... real ones.',
      isSecret: true,
    },
    { name: 'url', words: "Paystack's address.", usual: 'https://api.paystack.co' },
  ],
  open: ({ secret_key = '', url = '' }, tools) =>
    open(paystackClient(mustBeUrl(url), secret_key, tools.egress), secret_key, modeOf(secret_key), tools),
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

function open(
  line: PaystackClient,
  secretKey: string,
  mode: Mode,
  { clock }: Pick<ProviderTools, 'clock'>,
): ProviderAccount {
  async function start(order: Order, signal: AbortSignal): Promise<Reply> {
    const { email } = order
    if (!email)
      return { state: 'not_sent', words: 'Paystack wants an email address, and the order has none.' }
    const said = isWallet(order)
      ? await line.send('/charge', chargeOf(order, email), signal)
      : await line.send('/transaction/initialize', pageOf(order, email), signal)
    if (isKeyRefused(said)) return notAccepted(said)
    if (isDuplicate(said)) return mustBeThere(order, signal)
    const reason = isPlainRefusal(said) ? refusalOf(said.message) : undefined
    if (reason) return { state: 'failed', reason, psp_response_msg: said.message, ...providerCode(said) }
    return isWallet(order) ? chargeAnswer(order, said, signal) : pageReply(order, said)
  }

  // Of a charge, as start and step are answered.
  async function chargeAnswer(order: Order, said: PaystackResponse, signal: AbortSignal): Promise<Reply> {
    const { http, data } = said
    if (http >= 500 || isTooMuch(said) || typeof data.status !== 'string')
      return said.isHandled ? acknowledged(unclearPaystackReply(said)) : unclearPaystackReply(said)
    if (isEnding(data) && data.reference === undefined) return check(order, signal)
    if (data.reference !== order.idempotency_key) return otherOrder
    return isEnding(data) ? mustBeThere(order, signal) : chargeReply(order, data)
  }

  // It has the order, by its own word.
  async function mustBeThere(order: Order, signal: AbortSignal): Promise<Reply> {
    const reply = await acknowledged(check(order, signal))
    return reply.state === 'absent'
      ? { state: 'unknown', words: 'Paystack has the order, and does not find it.', acknowledged: true }
      : reply
  }

  const check = (order: Order, signal: AbortSignal) => checkOrder({ line, clock, order, signal })

  async function submit(
    order: Order,
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Reply> {
    const step = stepCalled(name)
    if (!step) return { state: 'unknown', words: 'Paystack has no such step.' }
    const value = localNumber(input[step.field.name] ?? '')
    const said = await line.send(step.path, { [step.sends]: value, reference: order.idempotency_key }, signal)
    if (isWrongCode(said) && !isEnding(said.data)) return askAgain(step, said.message)
    if (/session timeout exceeded/i.test(said.message)) return mustBeThere(order, signal)
    return chargeAnswer(order, said, signal)
  }

  return {
    mode,
    account: `paystack ${mode}`, // its transactions are numbered across all who have an account there
    startIsIdempotent: true, // a reference that it knows is refused
    visibleWithinMs: 5 * minutes, // nobody says how soon verify finds what was taken
    failureMayReverseForMs: 24 * hours,
    timing: {
      firstPollMs: 10 * seconds, // sooner it does not want to be asked
      pollGapsMs: [10, 10, 15, 15, 20, 20, 30, 30, 60, 60, 120, 300].map(gap => gap * seconds),
      startTimeoutMs: 30 * seconds,
      pollTimeoutMs: 15 * seconds,
    },
    methods: paystackMethods,
    start,
    check,
    submit,
    handleWebhook: webhook => readPaystackWebhook(webhook, secretKey),
    checkCredentials: signal => checkPaystackCredentials(line, mode, signal),
  }
}

// Refused before the order was read. 403: calls may be limited to known addresses on the dashboard.
const notAccepted = (said: PaystackResponse): Reply => ({
  state: 'not_sent',
  words: `Paystack does not take the secret key (HTTP ${said.http}).`,
  isRefusal: true,
  ...providerCode(said),
})

// A refusal of the request itself: no charge was made that could tell more.
const isPlainRefusal = ({ http, data }: PaystackResponse) =>
  (http === 400 || http === 422) && typeof data.status !== 'string'

const common = (order: Order, email: string) => ({
  email,
  amount: Number(order.amount), // exact: no order has 16 digits
  currency: order.currency,
  reference: order.idempotency_key,
})

const metadata = ({ tx_reference, invoice_id, merchant_name }: Order) => ({
  tx_reference,
  invoice_id,
  merchant_name,
})

const chargeOf = (order: Order, email: string) => ({
  ...common(order, email),
  mobile_money: {
    phone: localNumber(order.given.phone ?? ''),
    provider: providers[order.payment_method],
  },
  metadata: metadata(order),
})

// Who turns back at the page comes to us, too.
const pageOf = (order: Order, email: string) => ({
  ...common(order, email),
  channels: ['card'],
  callback_url: order.return_url,
  metadata: { ...metadata(order), cancel_action: order.return_url },
})

function pageReply({ idempotency_key: key }: Order, said: PaystackResponse): Reply {
  const { authorization_url, reference } = said.data
  if (!said.isHandled) return unclearPaystackReply(said)
  if (reference !== key) return otherOrder
  return typeof authorization_url === 'string'
    ? { state: 'pending', redirect_url: authorization_url }
    : { state: 'unknown', words: 'no way on', acknowledged: true }
}
