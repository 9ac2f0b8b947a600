import { expect, test } from 'vitest'
import {
  isSession,
  linkDigest,
  newSession,
  operatorKeys,
  sessionCookie,
  sessionSeconds,
} from '../../../src/core/operator/operatorKeys.ts'

const now = new Date('2026-03-02T12:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const keys = operatorKeys('stored', undefined)
const session = newSession(keys, now)

test('a session lasts seven days', () => {
  expect(sessionSeconds).toBe(7 * 86_400)
  expect(isSession(keys, session, now)).toBe(true)
  expect(isSession(keys, session, later(sessionSeconds - 1))).toBe(true)
  expect(isSession(keys, session, later(sessionSeconds))).toBe(false)
})

const [expires = '', signature = ''] = session.split('.')
for (const [what, value] of [
  ['nothing', undefined],
  ['an empty one', ''],
  ['the token', 'stored'],
  ['no signature', `${expires}.`],
  ['a later end', `${Number(expires) + 1}.${signature}`],
  ['another signature', `${expires}.${'A'.repeat(43)}`],
  ['more behind it', `${session}A`],
  ['a sign before it', `+${session}`],
  ['what is no number', `1e99.${signature}`],
] as const)
  test(`${what} is no session`, () => expect(isSession(keys, value, now)).toBe(false))

test('another token ends sessions, and links stay', () => {
  const set = operatorKeys('stored', ['a password of sixteen'])
  const changed = operatorKeys('stored', ['another password of sixteen'])
  const ours = newSession(set, now)
  expect([keys, set, changed].map(some => isSession(some, ours, now))).toEqual([false, true, false])
  expect(linkDigest(set, 'x')).toBe(linkDigest(keys, 'x'))
})

test('another installation with the same password has other sessions and links', () => {
  const set = operatorKeys('stored', ['a password of sixteen'])
  const other = operatorKeys('stored elsewhere', ['a password of sixteen'])
  expect(isSession(other, newSession(set, now), now)).toBe(false)
  expect(linkDigest(other, 'x')).not.toBe(linkDigest(set, 'x'))
})

test('a session tells neither token', () => {
  for (const secret of ['stored', keys.sessionKey.toString('hex'), keys.sessionKey.toString('base64url')])
    expect(session).not.toContain(secret)
})

test('the cookie is bound to its host where the address is https', () => {
  expect(sessionCookie('https://pay.example')).toBe('__Host-tollgate_support')
  expect(sessionCookie('http://127.0.0.1:8080')).toBe('tollgate_support')
})
