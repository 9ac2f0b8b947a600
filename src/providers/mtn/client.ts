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
import { sendWithToken, tokenOf, withToken } from '../http/token.ts'
import type { MtnAccount } from './settings.ts'

export type MtnClient = {
  mint(signal: AbortSignal): Promise<Token>
  ask(path: string, signal: AbortSignal): Promise<Answered>
  send(path: string, headers: Record<string, string>, body: object, signal: AbortSignal): Promise<Answered>
}

// Requests to MTN's Collections. Each carries the subscription key, and all but the one for a token carry the token.
export function mtnClient(
  { url, subscriptionKey, apiUser, apiKey, environment }: MtnAccount,
  egress: Egress,
): MtnClient {
  const http = openProviderHttp(egress)
  const keyed = { 'ocp-apim-subscription-key': subscriptionKey }
  const basic = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`
  const mint = async (signal: AbortSignal) => {
    const call: Call = { method: 'POST', headers: { ...keyed, authorization: basic }, signal }
    return readToken(await http.askText(withPath(url, '/collection/token/'), call))
  }
  const token = tokenOf(mint)
  const withHeaders = (bearer: string, call: Call): Call => ({
    ...call,
    headers: {
      ...keyed,
      authorization: `Bearer ${bearer}`,
      'x-target-environment': environment,
      ...call.headers,
    },
  })
  return {
    mint,
    ask: (path, signal) =>
      withToken(token, signal, bearer =>
        http.askText(withPath(url, `/collection/v1_0${path}`), withHeaders(bearer, { signal })),
      ),
    send(path, headers, body, signal) {
      const call: Call = {
        method: 'POST',
        headers: { ...headers, ...json },
        body: JSON.stringify(body),
        signal,
      }
      return sendWithToken(token, signal, bearer =>
        http.sendText(withPath(url, `/collection/v1_0${path}`), withHeaders(bearer, call)),
      )
    },
  }
}

const json = { 'content-type': 'application/json' }

function readToken({ http, text }: Answered): Token {
  const answer = readJson(text)
  const lifetimeMs = Number(answer?.expires_in) * 1000
  const token = answer?.access_token
  if (http === 200 && typeof token === 'string' && /^[\x21-\x7e]{1,8000}$/.test(token) && lifetimeMs > 0)
    return { token, lifetimeMs }
  const words = noToken(http, answer)
  throw http === 401 || http === 403 ? new CredentialsRefused(words) : new Error(words)
}

// Its words are read for a person alone: which of the credentials it is, a code does not tell.
function noToken(http: number, answer: JsonAnswer | undefined): string {
  const aboutSubscription = /subscription/i.test(String(answer?.message))
  if (http === 401 && aboutSubscription) return 'MTN does not take the subscription key (HTTP 401)'
  if (http === 401) return 'MTN does not take the API user or the API key (HTTP 401)'
  if (http === 403) return 'MTN does not let in the address that we come from (HTTP 403)'
  return answer
    ? `MTN gave no token (HTTP ${http})`
    : `MTN gave a page or nothing, and no token (HTTP ${http})`
}
