import { randomBytes } from 'node:crypto'
import { formTokenOf, isFormToken } from '../../core/formOrigin.ts'

// The form token of a session. It begins with a random salt, so that each page has another one: otherwise the length of a
// compressed page could reveal it.
export function newFormToken(key: Buffer, sessionDigest: string): string {
  const salt = randomBytes(9).toString('base64url')
  return `${salt}.${formTokenOf(key, ['dashboard', sessionDigest, salt])}`
}

export function isTokenOfSession(key: Buffer, sessionDigest: string, sent: string): boolean {
  const [salt = '', token] = sent.split('.')
  return isFormToken(formTokenOf(key, ['dashboard', sessionDigest, salt]), token)
}
