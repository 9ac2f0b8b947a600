import { randomUUID } from 'node:crypto'
import type { CredentialsCheck } from '../../core/provider/provider.ts'
import { CredentialsRefused } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'
import { type Answered, readJson } from '../http/providerHttp.ts'
import type { MtnClient } from './client.ts'
import { mtnCodeOf } from './reasons.ts'
import { isMtnNotFound } from './replies.ts'
import type { MtnAccount } from './settings.ts'

const maxWords = 300

// Asks for a token, then after a payment that cannot exist: who is told that it does not, may ask after others.
export async function checkMtnCredentials(
  account: MtnAccount,
  line: MtnClient,
  signal: AbortSignal,
): Promise<CredentialsCheck> {
  try {
    await line.mint(signal) // anew, not one that was made with other settings
    return judge(account, await line.ask(`/requesttopay/${randomUUID()}`, signal))
  } catch (error) {
    const words = cleanError(error, maxWords)
    if (error instanceof CredentialsRefused) return bad(`${words}.`)
    return notAsked(words.startsWith('MTN ') ? `${words}.` : `MTN cannot be reached: ${words}.`)
  }
}

function judge({ environment, mode, callsBack }: MtnAccount, { http, text }: Answered): CredentialsCheck {
  const code = mtnCodeOf(readJson(text))
  if (isMtnNotFound({ http, text })) {
    const kind = mode === 'test' ? 'test payments' : 'real payments'
    const unheard = callsBack ? ' Whether its callbacks arrive shows with the first payment.' : ''
    return { isValid: true, words: `MTN takes these settings for ${kind} (${environment}).${unheard}` }
  }
  if (http === 401)
    return bad('MTN gave a token, and then refused it: is the subscription key of Collections?')
  if (http === 403) return bad('MTN does not let in the address that we come from (HTTP 403).')
  if (code === 'NOT_ALLOWED_TARGET_ENVIRONMENT')
    return bad(`MTN does not take the environment ${environment} for this account.`)
  // An outage says nothing about the settings.
  return notAsked(
    `MTN answered HTTP ${http}${code ? ` ${code}` : ''} to a question that should find nothing.`,
  )
}

const bad = (words: string): CredentialsCheck => ({ isValid: false, words })
const notAsked = (words: string): CredentialsCheck => ({ ...bad(words), unreachable: true })
