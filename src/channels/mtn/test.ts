import { randomUUID } from 'node:crypto'
import type { ChannelTest } from '../../core/channel/channel.ts'
import { CredentialsRefused } from '../../core/channel/reply.ts'
import { cleanError } from '../../core/stranger.ts'
import { type Answered, readJson } from '../http/providerHttp.ts'
import type { Line } from './line.ts'
import { codeOf } from './reasons.ts'
import { isNotFound } from './replies.ts'
import type { Account } from './settings.ts'

const maxWords = 300

// Asks for a token, then after a payment that cannot exist: who is told that it does not, may ask after others.
export async function testAccount(account: Account, line: Line, signal: AbortSignal): Promise<ChannelTest> {
  try {
    await line.mint(signal) // anew, not one that was made with other settings
    return judge(account, await line.ask(`/requesttopay/${randomUUID()}`, signal))
  } catch (error) {
    const words = cleanError(error, maxWords)
    if (error instanceof CredentialsRefused) return bad(`${words}.`)
    return notAsked(words.startsWith('MTN ') ? `${words}.` : `MTN cannot be reached: ${words}.`)
  }
}

function judge({ environment, mode, callsBack }: Account, { http, text }: Answered): ChannelTest {
  const code = codeOf(readJson(text))
  if (isNotFound({ http, text })) {
    const kind = mode === 'test' ? 'test payments' : 'real payments'
    const unheard = callsBack ? ' Whether its callbacks arrive shows with the first payment.' : ''
    return { isGood: true, words: `MTN takes these settings for ${kind} (${environment}).${unheard}` }
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

const bad = (words: string): ChannelTest => ({ isGood: false, words })
const notAsked = (words: string): ChannelTest => ({ ...bad(words), notAsked: true })
