import { randomBytes } from 'node:crypto'
import type { SimulatorRequest, SimulatorReply } from '../simulator.ts'

export type Credentials = { subscriptionKey: string; apiUser: string; apiKey: string }

export type Door = {
  token(asked: SimulatorRequest): SimulatorReply
  refusal(asked: SimulatorRequest): SimulatorReply | undefined // of a request without a valid token
  expire(): void // all issued tokens
}

// A wrong API key is answered with 401; 500 was observed, too.
export type DoorTerms = { tokenSeconds: number; wrongKeyStatus: number }

// Every call needs the subscription key; a token request needs Basic authentication, all others need the token.
export function authenticationOf({ subscriptionKey, apiUser, apiKey }: Credentials, terms: DoorTerms): Door {
  const tokens = new Map<string, number>()
  const basic = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`
  const wrongKey = ({ headers }: SimulatorRequest) =>
    headers['ocp-apim-subscription-key'] === subscriptionKey ? undefined : noSubscription

  return {
    token(asked) {
      const refused = wrongKey(asked) ?? wrongForm(asked)
      if (refused) return refused
      if (asked.headers.authorization !== basic)
        return terms.wrongKeyStatus === 401 ? unauthorized : { status: terms.wrongKeyStatus, body: {} }
      const access_token = randomBytes(24).toString('base64url')
      tokens.set(access_token, performance.now() + terms.tokenSeconds * 1000)
      return {
        status: 200,
        body: { access_token, token_type: 'access_token', expires_in: terms.tokenSeconds },
      }
    },
    refusal(asked) {
      const token = /^Bearer (\S+)$/.exec(asked.headers.authorization ?? '')?.[1] ?? ''
      return wrongKey(asked) ?? ((tokens.get(token) ?? 0) > performance.now() ? undefined : unauthorized)
    },
    expire: () => tokens.clear(),
  }
}

const html = { 'content-type': 'text/html' }
export const lengthRequired: SimulatorReply = { status: 411, headers: html, body: '<h2>Length Required</h2>' }
const rejected: SimulatorReply = { status: 200, headers: html, body: '<html>Request Rejected</html>' }
const unauthorized: SimulatorReply = { status: 401, body: { message: 'Unauthorized' } }
const noSubscription: SimulatorReply = {
  status: 401,
  body: { statusCode: 401, message: 'Access denied due to invalid subscription key.' },
}

// The body is empty or a grant in JSON. The firewall rejects a form.
function wrongForm({ text, headers }: SimulatorRequest): SimulatorReply | undefined {
  if (text === '') return undefined
  return headers['content-type']?.includes('json') ? undefined : rejected
}

// Chunked bodies and bodies without a length are refused.
export const hasNoLength = ({ method, headers }: SimulatorRequest) =>
  method === 'POST' && (headers['content-length'] === undefined || headers['transfer-encoding'] !== undefined)
