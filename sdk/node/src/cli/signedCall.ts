import { transportOf } from '../client.ts'
import { RefusedError } from '../errors.ts'
import { hex, hmacWith, utf8 } from '../signature.ts'
import { type MakeRequest, send } from '../transport.ts'
import { CommandError } from './command.ts'
import type { Credentials } from './credentials.ts'

export type SignedCall = {
  method: 'GET' | 'POST'
  path: string
  fields: Readonly<Record<string, string | undefined>>
  isRepeatable: boolean // may be sent again after a timeout
  what: string // for the message of a gateway that does not have it
}

// All fields but the hash itself, sorted by name.
export const sortedPairs = (fields: Readonly<Record<string, string>>): string =>
  Object.keys(fields)
    .sort()
    .map(name => `${name}=${fields[name]}`)
    .join('&')

// Calls an endpoint whose signature covers every field and the time.
export async function signedCall(
  credentials: Credentials,
  call: SignedCall,
): Promise<Record<string, unknown>> {
  const transport = transportOf({ ...credentials, tries: call.isRepeatable ? 4 : 1 })
  const hmac = hmacWith(utf8(credentials.merchantSecret))
  const request: MakeRequest = async () => {
    const given = Object.entries(call.fields).filter(
      (field): field is [string, string] => field[1] !== undefined,
    )
    const time = String(Math.floor(Date.now() / 1000))
    const fields = { ...Object.fromEntries(given), merchant_key: credentials.merchantKey, time }
    const signed = { ...fields, secure_hash: hex(await hmac(sortedPairs(fields))) }
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    return call.method === 'POST'
      ? { path: call.path, init: { method: 'POST', headers, body: JSON.stringify(signed) } }
      : { path: `${call.path}?${new URLSearchParams(signed).toString()}`, init: { method: 'GET', headers } }
  }
  try {
    return (await send(transport, request, transport.limits)).body
  } catch (error) {
    if (error instanceof RefusedError && ['not_found', 'http_404', 'method_not_allowed'].includes(error.code))
      throw new CommandError(
        `The gateway at ${credentials.baseUrl} has no ${call.what}: it is older than this command, or TOLLGATE_URL is not the ` +
          'address of a gateway. Ask its operator for an update.',
      )
    throw error
  }
}

// Fails before anything is sent.
export function mustBeTestKey({ merchantKey }: Credentials, what: string): void {
  if (!merchantKey.startsWith('tk_'))
    throw new CommandError(
      `GW-015: ${what} works with a test key only, which begins with tk_. Yours does not. Nothing was sent.`,
    )
}
