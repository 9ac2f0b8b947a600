import { hash, timingSafeEqual } from 'node:crypto'
import type { Ctx } from '../context.ts'
import { isLocal } from '../local.ts'

export type Access = 'granted' | 'wrong_password' | 'elsewhere'

// With a token, whoever has it as the password, under any name. Without one, only this machine.
export function accessOf(c: Ctx, token?: string): Access {
  if (token)
    return isSame(passwordOf(c.req.header('authorization') ?? ''), token) ? 'granted' : 'wrong_password'
  return isLocal(c) && isLocalName(c.req.header('host') ?? '') ? 'granted' : 'elsewhere'
}

// A page from elsewhere may point its own name at this machine and have the browser of somebody here ask.
const isLocalName = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host)

function passwordOf(header: string): string {
  const [, encoded = ''] = /^basic +([a-z0-9+/=]+)$/i.exec(header) ?? []
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

// Digests are of one length, so the time tells nothing of the token, nor of its length.
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other))
const digest = (text: string) => Buffer.from(hash('sha256', text, 'hex'), 'hex')
