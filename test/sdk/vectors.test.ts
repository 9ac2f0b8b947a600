import { readFileSync } from 'node:fs'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { vectors } from './vectors.ts'

test('sdk/vectors.json has the signatures of the gateway', () => {
  expect(JSON.parse(readFileSync('sdk/vectors.json', 'utf8'))).toEqual(vectors)
})

test('an independent library accepts and refuses the same notifications', () => {
  for (const { secret, now, body, headers, valid, name } of vectors.notifications) {
    vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] })
    const verify = () => new Webhook(secret).verify(body, headers as Record<string, string>)
    if (valid) expect(verify(), name).toEqual(JSON.parse(body))
    else expect(verify, name).toThrow(WebhookVerificationError)
  }
  vi.useRealTimers()
})
