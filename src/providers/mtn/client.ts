import { formatMoney } from '../../core/money.ts'
import type { Order } from '../../core/provider/order.ts'
import type { Egress, Token } from '../../core/provider/provider.ts'
import { CredentialsRefused } from '../../core/provider/reply.ts'
import { withPath } from '../../core/urlTrust.ts'
import {
  type Answered,
  type Call,
  type JsonAnswer,
  openProviderHttp,
  readJson,
} from '../http/providerHttp.ts'
import { createTokenCache, sendWithToken, withToken } from '../http/token.ts'
import type { MtnAccount, MtnProduct } from './settings.ts'

const maxNote = 128
const json = { 'content-type': 'application/json' }

export type MtnClient = {
  requestToken(signal: AbortSignal): Promise<Token>
  ask(path: string, signal: AbortSignal): Promise<Answered>
  send(path: string, headers: Record<string, string>, body: object, signal: AbortSignal): Promise<Answered>
}

// HTTP requests to one product of MTN. All carry its subscription key, and all but the token request carry its token.
export function mtnClient(
  { url, environment }: MtnAccount,
  { product, subscriptionKey, apiUser, apiKey }: MtnProduct,
  egress: Egress,
): MtnClient {
  const http = openProviderHttp(egress)
  const subscription = { 'ocp-apim-subscription-key': subscriptionKey }
  const basic = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`
  const requestToken = async (signal: AbortSignal) => {
    const call: Call = { method: 'POST', headers: { ...subscription, authorization: basic }, signal }
    return readToken(product, await http.askText(withPath(url, `/${product}/token/`), call))
  }
  const token = createTokenCache(requestToken)
  const authorized = (bearer: string, call: Call): Call => ({
    ...call,
    headers: {
      ...subscription,
      authorization: `Bearer ${bearer}`,
      'x-target-environment': environment,
      ...call.headers,
    },
  })
  const urlOfPath = (path: string) => withPath(url, `/${product}/v1_0${path}`)
  return {
    requestToken,
    ask: (path, signal) =>
      withToken(token, signal, bearer => http.askText(urlOfPath(path), authorized(bearer, { signal }))),
    send(path, headers, body, signal) {
      const all = { ...headers, ...json }
      const call: Call = { method: 'POST', headers: all, body: JSON.stringify(body), signal }
      return sendWithToken(token, signal, bearer => http.sendText(urlOfPath(path), authorized(bearer, call)))
    },
  }
}

function readToken(product: MtnProduct['product'], { http, text }: Answered): Token {
  const answer = readJson(text)
  const lifetimeMs = Number(answer?.expires_in) * 1000
  const token = answer?.access_token
  if (http === 200 && typeof token === 'string' && /^[\x21-\x7e]{1,8000}$/.test(token) && lifetimeMs > 0)
    return { token, lifetimeMs }
  const words = `${whyNoToken(http, answer)}${product === 'disbursement' ? ', for Disbursements' : ''}`
  throw http === 401 || http === 403 ? new CredentialsRefused(words) : new Error(words)
}

// No code names the wrong credential, so MTN's message is searched. The result is only shown to operators.
function whyNoToken(http: number, answer: JsonAnswer | undefined): string {
  const isSubscription = /subscription/i.test(String(answer?.message))
  if (http === 401 && isSubscription) return 'MTN does not take the subscription key (HTTP 401)'
  if (http === 401) return 'MTN does not take the API user or the API key (HTTP 401)'
  if (http === 403) return 'MTN refuses calls from our address (HTTP 403)'
  return answer
    ? `MTN gave no token (HTTP ${http})`
    : `MTN gave a page or nothing, and no token (HTTP ${http})`
}

// The body of a request to pay. MTN's replies name the order by `externalId` only.
export const mtnRequest = (order: Order, sandboxCurrency: string | undefined) => ({
  amount: formatMoney(order.amount, order.currency),
  currency: sandboxCurrency ?? order.currency,
  externalId: order.attempt_id,
  payer: { partyIdType: 'MSISDN', partyId: msisdnOf(order) },
  payerMessage: mtnNote(order.merchant_name),
  payeeNote: mtnNote(order.tx_reference),
})

export const msisdnOf = ({ given }: Order) => (given.phone ?? '').replace(/^\+/, '')

// MTN refuses a whole request because of an apostrophe in a note. Letters lose their accents; other characters become a
// space.
export function mtnNote(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9.,-]+/g, ' ')
  return plain.trim().slice(0, maxNote).trim() || 'Payment'
}
