import { randomBytes } from 'node:crypto'
import type { Asked, Said } from '../frame.ts'

export type Credentials = { subscriptionKey: string; apiUser: string; apiKey: string }

export type Door = {
  token(asked: Asked): Said
  refusal(asked: Asked): Said | undefined // of a request that shows no good token
  expire(): void // all that were given
}

// A wrong API key is answered 401; 500 was seen, too.
export type DoorTerms = { tokenSeconds: number; wrongKeyStatus: number }

// Who is let in: the subscription key on every call, Basic for a token, the token for the rest.
export function doorOf({ subscriptionKey, apiUser, apiKey }: Credentials, terms: DoorTerms): Door {
  const tokens = new Map<string, number>()
  const basic = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`
  const wrongKey = ({ headers }: Asked) =>
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
export const lengthRequired: Said = { status: 411, headers: html, body: '<h2>Length Required</h2>' }
const rejected: Said = { status: 200, headers: html, body: '<html>Request Rejected</html>' }
const unauthorized: Said = { status: 401, body: { message: 'Unauthorized' } }
const noSubscription: Said = {
  status: 401,
  body: { statusCode: 401, message: 'Access denied due to invalid subscription key.' },
}

// Without a body or with a grant in JSON. A form meets the firewall.
function wrongForm({ text, headers }: Asked): Said | undefined {
  if (text === '') return undefined
  return headers['content-type']?.includes('json') ? undefined : rejected
}

// Chunks are refused, and a body whose length nobody says.
export const hasNoLength = ({ method, headers }: Asked) =>
  method === 'POST' && (headers['content-length'] === undefined || headers['transfer-encoding'] !== undefined)
