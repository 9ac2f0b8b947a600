import { randomUUID } from 'node:crypto'
import type { ProviderAccount, Provider, Egress, ProviderTiming } from '../core/provider/provider.ts'
import type { Order } from '../core/provider/order.ts'
import type { Reply } from '../core/provider/reply.ts'
import type { PaymentMethod } from '../core/provider/paymentMethod.ts'
import { mtnWallet } from './ghana/wallets.ts'
import { type MtnClient, mtnClient } from './mtn/client.ts'
import { readJson } from './http/providerHttp.ts'
import { markets } from './mtn/markets.ts'
import { statusReply } from './mtn/replies.ts'
import { msisdnOf, requestOf } from './mtn/request.ts'
import { type MtnAccount, readMtnAccount, mtnSettings } from './mtn/settings.ts'
import { startReply } from './mtn/startReply.ts'
import { checkMtnCredentials } from './mtn/checkCredentials.ts'

// The line to MTN's MoMo Collections: a request to pay under a reference of ours, and a question by the same reference.
const seconds = 1000
const minutes = 60 * seconds
const hours = 60 * minutes
const holderWithinMs = 5 * seconds // a check that takes longer is done without
const checkWithinMs = 5 * seconds // of the question after a refused order, so that the refusal itself is not lost

const mtn: Provider = {
  settings: mtnSettings,
  businessSettings: ['api_user'], // an API user belongs to one business, whatever its keys are
  open: (given, { egress }) => open(readMtnAccount(given), egress),
}

export default mtn

// MTN is said to take 150 status requests a second from one IP address. The rate is kept below that, because the question
// after a refused order is not counted.
const timing: ProviderTiming = {
  firstPollMs: 4 * seconds,
  pollGapsMs: [4, 4, 5, 5, 5, 10, 10, 15, 15, 30, 30, 60, 60, 120, 300, 900].map(s => s * seconds),
  startTimeoutMs: 30 * seconds,
  pollTimeoutMs: 10 * seconds,
  pollsPerSecond: 120,
}

function open(account: MtnAccount, egress: Egress): ProviderAccount {
  const { mode, environment, standIn, checksHolder } = account
  const line = mtnClient(account, egress)

  async function start(order: Order, signal: AbortSignal): Promise<Reply> {
    if (checksHolder && order.is_first_sending && (await hasNoWallet(line, order, signal)))
      return { state: 'failed', reason: 'no_wallet', isStartRefused: true }
    const headers = { 'x-reference-id': order.idempotency_key, ...callbackHeader(account, order) }
    const answered = await line.send('/requesttopay', headers, requestOf(order, standIn), signal)
    return startReply(order, answered, () => check(order, within(checkWithinMs, signal)))
  }

  async function check(order: Order, signal: AbortSignal): Promise<Reply> {
    const answered = await line.ask(`/requesttopay/${encodeURIComponent(order.idempotency_key)}`, signal)
    return statusReply(order, answered, standIn)
  }

  return {
    mode,
    account: `mtn ${environment}`,
    environment,
    startIsIdempotent: true, // a reference that was used is answered 409, even after an error
    visibleWithinMs: 15 * minutes, // nobody says; "not found" may mean "not yet"
    failureMayReverseForMs: 24 * hours, // MTN calls FAILED final. It costs little to make sure
    timing,
    methods: [wayOf(account)],
    requiresHttpsCallbacks: mode === 'live' && account.callsBack,
    newIdempotencyKey: () => randomUUID(),
    providerOrderId: order => order.attempt_id,
    start,
    check,
    checkCredentials: signal => checkMtnCredentials(account, line, signal),
  }
}

const within = (ms: number, signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(ms)])

// A live market refuses an order whose callback address is not https. Polling finds the result as well.
const callbackHeader = ({ mode, callsBack }: MtnAccount, { callback_url }: Order): Record<string, string> =>
  callsBack && (mode === 'test' || callback_url.startsWith('https:'))
    ? { 'x-callback-url': callback_url }
    : {}

// Only MTN's plain word is a no. Whatever else comes of the question, the order itself will show.
async function hasNoWallet(line: MtnClient, order: Order, signal: AbortSignal): Promise<boolean> {
  const soon = within(holderWithinMs, signal)
  const path = `/accountholder/msisdn/${encodeURIComponent(msisdnOf(order))}/active`
  const answered = await line.ask(path, soon).catch(() => undefined)
  const result = answered?.http === 200 ? readJson(answered.text)?.result : undefined
  return result === false || result === 'false'
}

// Numbers are those of the market. The network is guessed from prefixes of Ghana, and the code to dial is Ghana's. MTN's
// sandbox has test numbers of no country, and so may a market that is not in the table.
function wayOf({ environment, currency }: MtnAccount): PaymentMethod {
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
  }
}
