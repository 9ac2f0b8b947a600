import type { IncomingMessage } from 'node:http'
import { newSession, operatorKeys, sessionCookie } from '../../../src/core/operator/operatorKeys.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import type { OperatorAuth } from '../../../src/web/http/operatorAuth.ts'
import { bearer } from './rawHttp.ts'

// The operator token of every test gateway, by default.
export const operatorToken = 'the operator of the tests'
export const asOperator = bearer(operatorToken)

export const testOperatorAuth = (
  token: string | undefined = operatorToken,
  monotonicMs = () => performance.now(),
): OperatorAuth => ({
  name: 'support',
  keys: operatorKeys('a stored token', [token]),
  baseUrl: () => 'http://pay.example',
  trustedProxies: 0,
  limits: createRateLimits(monotonicMs),
  clock: () => new Date(),
})

// Acts as a signed-in browser: if the gateway has the token of the tests, a request without credentials gets a session.
export function signIn({ headers, rawHeaders }: IncomingMessage, { keys, baseUrl, clock }: OperatorAuth) {
  if (headers.authorization !== undefined || headers.cookie !== undefined) return
  if (keys.supportToken !== operatorToken) return
  headers.cookie = `${sessionCookie(baseUrl())}=${newSession(keys, clock())}`
  rawHeaders.push('cookie', headers.cookie)
}
