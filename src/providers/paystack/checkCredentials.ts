import type { Mode } from '../../core/mode.ts'
import type { CredentialsCheck } from '../../core/provider/provider.ts'
import { cleanError } from '../../core/text.ts'
import { type PaystackClient, type PaystackResponse, unclearPaystackReply } from './client.ts'

const maxWords = 200

// Its balances are told to whoever has the secret key, and show in which currencies the account is paid.
export async function checkPaystackCredentials(
  line: PaystackClient,
  mode: Mode,
  signal: AbortSignal,
): Promise<CredentialsCheck> {
  try {
    return judge(await line.ask('/balance', signal), mode)
  } catch (error) {
    return notAsked(`Paystack was not reached: ${cleanError(error, maxWords)}.`)
  }
}

function judge(said: PaystackResponse, mode: Mode): CredentialsCheck {
  if (said.http === 401)
    return bad(
      'Paystack does not know the secret key. It may be cut off, or have been replaced at the dashboard.',
    )
  if (said.http === 403)
    return bad('Paystack does not let us in. Calls may be limited to known addresses at its dashboard.')
  if (!said.isHandled) return notAsked(`Paystack gave no clear answer: ${unclearPaystackReply(said).words}.`)
  const held = Object.values(said.data).map(balance => (balance as { currency?: unknown } | null)?.currency)
  return held.includes('GHS')
    ? { isValid: true, words: `Paystack takes the secret key, for ${mode} payments in GHS.` }
    : bad(
        'Paystack takes the secret key, but the account has no balance in GHS: only one of a business in Ghana has.',
      )
}

const bad = (words: string): CredentialsCheck => ({ isValid: false, words })
const notAsked = (words: string): CredentialsCheck => ({ ...bad(words), unreachable: true })
