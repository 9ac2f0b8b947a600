import { createHmac } from 'node:crypto'
import { isSameSecret } from '../operator/operatorKeys.ts'

export const firstVisitSeconds = 3600

const mac = (key: Buffer, expires: string) =>
  createHmac('sha256', key).update(`first visit ${expires}`).digest('base64url')

// Shows that a browser has opened a single-use link of the terminal. It may create the first account, as long as there is
// none.
export function newFirstVisitMark(key: Buffer, now: Date): string {
  const expires = String(Math.floor(now.getTime() / 1000) + firstVisitSeconds)
  return `${expires}.${mac(key, expires)}`
}

export function isFirstVisitMark(key: Buffer, value: string, now: Date): boolean {
  const [, expires, sent] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
  if (expires === undefined || sent === undefined) return false
  return isSameSecret(sent, mac(key, expires)) && Number(expires) * 1000 > now.getTime()
}
