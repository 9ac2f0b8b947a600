import { randomUUID } from 'node:crypto'
import type { Order } from '../core/provider/order.ts'
import type { PaymentMethod } from '../core/provider/paymentMethod.ts'
import type {
  CredentialsCheck,
  Egress,
  Provider,
  ProviderAccount,
  ProviderTiming,
} from '../core/provider/provider.ts'
import { CredentialsRefused, type Reply } from '../core/provider/reply.ts'
import { cleanError } from '../core/text.ts'
import { mtnWallet } from './ghana/wallets.ts'
import { type Answered, readJson } from './http/providerHttp.ts'
import { msisdnOf, type MtnClient, mtnClient, mtnRequest } from './mtn/client.ts'
import { mtnRefunds } from './mtn/refunds.ts'
import { isMtnNotFound, mtnCodeOf, startReply, statusReply } from './mtn/replies.ts'
import { markets, type MtnAccount, mtnSettings, readMtnAccount } from './mtn/settings.ts'

// MTN MoMo Collections: a request to pay under our own reference, and status questions by the same reference. If the account
// has credentials of Disbursements, it refunds by that product.
const seconds = 1000
const minutes = 60 * seconds
const hours = 60 * minutes
const walletCheckMs = 5 * seconds // an order does not wait longer for the check of its wallet
const statusAfterRefusalMs = 5 * seconds // a refusal must not be lost in the timeout of the question that follows it
const maxWords = 300

const mtn: Provider = {
  settings: mtnSettings,
  businessSettings: ['api_user'], // an API user belongs to one business; its keys may change
  open: (values, { egress }) => open(readMtnAccount(values), egress),
}

export default mtn

// Integrators report a limit of 150 status requests a second from one IP address. The rate stays below it, because the
// question after a refused order is not counted.
const timing: ProviderTiming = {
  firstPollMs: 4 * seconds,
  pollGapsMs: [4, 4, 5, 5, 5, 10, 10, 15, 15, 30, 30, 60, 60, 120, 300, 900].map(s => s * seconds),
  startTimeoutMs: 30 * seconds,
  pollTimeoutMs: 10 * seconds,
  pollsPerSecond: 120,
}

function open(account: MtnAccount, egress: Egress): ProviderAccount {
  const { mode, environment, sandboxCurrency, checksHolder } = account
  const client = mtnClient(account, account.collection, egress)
  const disbursement = account.disbursement && mtnClient(account, account.disbursement, egress)

  async function start(order: Order, signal: AbortSignal): Promise<Reply> {
    if (checksHolder && order.is_first_sending && (await hasNoWallet(client, order, signal)))
      return { state: 'failed', reason: 'no_wallet', isStartRefused: true }
    const headers = { 'x-reference-id': order.idempotency_key, ...callbackHeader(account, order) }
    const answered = await client.send('/requesttopay', headers, mtnRequest(order, sandboxCurrency), signal)
    return startReply(order, answered, () => check(order, within(statusAfterRefusalMs, signal)))
  }

  async function check(order: Order, signal: AbortSignal): Promise<Reply> {
    const answered = await client.ask(`/requesttopay/${encodeURIComponent(order.idempotency_key)}`, signal)
    return statusReply(order, answered, sandboxCurrency)
  }

  return {
    mode,
    account: `mtn ${environment}`,
    environment,
    startIsIdempotent: true, // a used reference is answered 409, even after an error
    visibleWithinMs: 15 * minutes, // not documented; "not found" may mean "not yet"
    failureMayReverseForMs: 24 * hours, // MTN calls FAILED final; one more question costs little
    timing,
    methods: [methodOf(account)],
    requiresHttpsCallbacks: mode === 'live' && account.callsBack,
    newIdempotencyKey: () => randomUUID(),
    providerOrderId: order => order.attempt_id,
    start,
    check,
    ...(disbursement && {
      refunds: mtnRefunds(disbursement, {
        sandboxCurrency,
        callbackHeader: order => callbackHeader(account, order),
      }),
    }),
    checkCredentials: signal => checkAccount(account, client, disbursement, signal),
  }
}

const within = (ms: number, signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(ms)])

// A live market refuses an order whose callback address is not https. Without a callback, polling finds the result.
const callbackHeader = (
  { mode, callsBack }: MtnAccount,
  { callback_url }: Pick<Order, 'callback_url'>,
): Record<string, string> =>
  callsBack && (mode === 'test' || callback_url.startsWith('https:'))
    ? { 'x-callback-url': callback_url }
    : {}

// Only an explicit "false" of MTN counts. After any other result the order is sent, and the reply to it decides.
async function hasNoWallet(client: MtnClient, order: Order, signal: AbortSignal): Promise<boolean> {
  const path = `/accountholder/msisdn/${encodeURIComponent(msisdnOf(order))}/active`
  const answered = await client.ask(path, within(walletCheckMs, signal)).catch(() => undefined)
  const result = answered?.http === 200 ? readJson(answered.text)?.result : undefined
  return result === false || result === 'false'
}

const mtnTestNumbers = {
  '+46733123454': 'paid',
  '+46733123451': 'declined',
  '+46733123452': 'no_answer',
} as const

// The network is guessed from Ghana's prefixes, and the code to dial is Ghana's. The test numbers of MTN's sandbox belong
// to no country; a market that is not in the table has no known number format.
function methodOf({ environment, currency }: MtnAccount): PaymentMethod {
  const { numbers: _, dial, network, ...wallet } = mtnWallet
  const isGhana = environment === 'mtnghana'
  const isSandbox = environment === 'sandbox'
  const numbers = markets[environment]?.numbers
  return {
    ...wallet,
    currencies: [currency],
    fields: [{ name: 'phone', kind: 'phone' }],
    lifetimeMs: 5 * minutes,
    ...(numbers && { numbers }),
    ...(isGhana && { dial }),
    ...((isGhana || isSandbox) && { network }),
    ...(isSandbox && { testNumbers: mtnTestNumbers }),
  }
}

// The credentials of Collections, then those of Disbursements.
async function checkAccount(
  account: MtnAccount,
  client: MtnClient,
  disbursement: MtnClient | undefined,
  signal: AbortSignal,
): Promise<CredentialsCheck> {
  const check = await checkProduct(account, client, '/requesttopay', signal)
  if (!check.isValid || !disbursement) return check
  const refunds = await checkProduct(account, disbursement, '/refund', signal)
  if (!refunds.isValid) return { ...refunds, words: `For refunds: ${refunds.words}`, isForRefunds: true }
  return { isValid: true, words: `${check.words} It takes those of Disbursements for refunds.` }
}

// Requests a new token, then the status of an order that does not exist. "Not found" proves that the settings work.
async function checkProduct(
  account: MtnAccount,
  client: MtnClient,
  path: string,
  signal: AbortSignal,
): Promise<CredentialsCheck> {
  try {
    await client.requestToken(signal) // a cached token may have been issued for other settings
    return judge(account, await client.ask(`${path}/${randomUUID()}`, signal))
  } catch (error) {
    const words = cleanError(error, maxWords)
    if (error instanceof CredentialsRefused) return invalid(`${words}.`)
    return unreachable(words.startsWith('MTN ') ? `${words}.` : `MTN cannot be reached: ${words}.`)
  }
}

function judge({ environment, mode, callsBack }: MtnAccount, { http, text }: Answered): CredentialsCheck {
  const code = mtnCodeOf(readJson(text))
  if (isMtnNotFound({ http, text })) {
    const kind = mode === 'test' ? 'test payments' : 'real payments'
    const callbacks = callsBack ? ' Whether its callbacks arrive shows with the first payment.' : ''
    return { isValid: true, words: `MTN takes these settings for ${kind} (${environment}).${callbacks}` }
  }
  if (http === 401)
    return invalid('MTN gave a token, and then refused it: is the subscription key of another product?')
  if (http === 403) return invalid('MTN refuses calls from our address (HTTP 403).')
  if (code === 'NOT_ALLOWED_TARGET_ENVIRONMENT')
    return invalid(`MTN does not take the environment ${environment} for this account.`)
  return unreachable(
    `MTN answered HTTP ${http}${code ? ` ${code}` : ''} to a question that should find nothing.`,
  )
}

const invalid = (words: string): CredentialsCheck => ({ isValid: false, words })

// An outage proves nothing about the settings.
const unreachable = (words: string): CredentialsCheck => ({ ...invalid(words), unreachable: true })
