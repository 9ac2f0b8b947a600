import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../../core/interface/refusal.ts'
import { opensTo } from '../../core/thisMachine.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import { addressOf } from './apiRequest.ts'
import { isRefusal } from './errors.ts'
import { isFromThisMachine } from './local.ts'

// A door for whoever runs the gateway.
export type OperatorDoor = {
  name: 'support' | 'metrics' // wrong tokens are counted by it
  token?: string
  isForThisMachineOnly: boolean
  trustedProxies: number
  limits: Pick<RateLimits, 'tryToken' | 'wrongToken'>
}

// A refusal for who was wrong too often.
export type Access = 'granted' | 'shut' | 'no_token' | 'wrong_token' | Refusal

// Where there is a token, whoever shows it, from anywhere and by any name. Without one, this machine, where nobody else
// reaches the gateway.
export function accessOf(incoming: IncomingMessage, shown: string | undefined, door: OperatorDoor): Access {
  const { token } = door
  if (token === undefined)
    return opensTo(door) === 'this_machine' && isFromThisMachine(incoming) ? 'granted' : 'shut'
  return shown === undefined
    ? 'no_token'
    : compare(shown, token, door, addressOf(incoming, door.trustedProxies))
}

// While an address has to wait, its tokens are not looked at, right or wrong: else the answer would still tell which.
function compare(shown: string, token: string, { name, limits }: OperatorDoor, address: string): Access {
  try {
    limits.tryToken(name, address)
    if (isSame(shown, token)) return 'granted'
    limits.wrongToken(name, address)
    return 'wrong_token'
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

// Digests are of one length, so the time tells nothing of the token, nor of its length.
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other))
const digest = (text: string) => Buffer.from(hash('sha256', text, 'hex'), 'hex')
