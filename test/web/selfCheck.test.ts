import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorKeys } from '../../src/core/operator/operatorKeys.ts'
import {
  askSelf,
  isOwnAnswer,
  selfCheckHeader,
  selfCheckPath,
  whyNotForwarded,
} from '../../src/core/operator/selfCheck.ts'
import { findInstallation, openInstallation } from '../../src/store/installation/installation.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { operatorToken } from '../support/gateway/operatorAuth.ts'

let gateway: TestGateway
let keys: ReturnType<typeof operatorKeys>
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  const stored = await findInstallation(gateway.db)
  if (!stored) throw new Error('the installation has no secrets')
  keys = operatorKeys(openInstallation(gateway.masterKeys, stored).supportToken, [operatorToken])
})
afterAll(() => gateway.stop())

const nonce = randomBytes(18).toString('base64url')

const ask = async (question?: string) => {
  const headers = {
    'x-forwarded-for': '203.0.113.9, 192.0.2.7',
    ...(question && { [selfCheckHeader]: question }),
  }
  const response = await fetch(`${gateway.url}${selfCheckPath}`, { headers })
  return { http: response.status, text: await response.text() }
}

test('a question of this installation gets a proof, and what the gateway sees of the request', async () => {
  const { http, text } = await ask(askSelf(keys, nonce, new Date()))
  expect(http).toBe(200)
  const answer = JSON.parse(text)
  expect(answer).toMatchObject({
    address: '192.0.2.7',
    forwarded_for: '203.0.113.9, 192.0.2.7',
    trusted_proxies: 1,
  })
  expect(isOwnAnswer(keys, nonce, answer.proof)).toBe(true)
  expect(isOwnAnswer(keys, randomBytes(18).toString('base64url'), answer.proof)).toBe(false)
  expect(JSON.stringify(answer)).not.toContain(operatorToken)
})

test('without a valid question the path does not exist', async () => {
  const [expires, , signature] = askSelf(keys, nonce, new Date()).split('.')
  const questions = [
    undefined,
    'x',
    askSelf(operatorKeys('another token'), nonce, new Date()),
    askSelf(keys, nonce, new Date(Date.now() - 3_600_000)),
    `${expires}.${randomBytes(18).toString('base64url')}.${signature}`,
    `${Number(expires) + 1}.${nonce}.${signature}`,
  ]
  for (const question of questions) expect((await ask(question)).http).toBe(404)
})

const client = '198.51.100.4'
const forged = '203.0.113.9'
for (const [forwarded_for, trusted_proxies, address, fault] of [
  [forged, 0, '127.0.0.1', undefined], // no proxy
  [client, 1, client, undefined], // replaced
  [`${forged}, ${client}`, 1, client, undefined], // added to
  [`${forged}, ${client}, 10.0.0.1`, 2, client, undefined],
  [forged, 1, forged, { is: 'forgeable', found: 0 }],
  [`${forged}, ${client}`, 2, forged, { is: 'forgeable', found: 1 }],
  ['', 1, '127.0.0.1', { is: 'too_few', found: 0 }],
  [client, 2, '127.0.0.1', { is: 'too_few', found: 1 }],
  [client, 0, '127.0.0.1', { is: 'too_many', found: 1 }],
  [`${forged}, ${client}, 10.0.0.1`, 1, '10.0.0.1', { is: 'too_many', found: 2 }],
] as const)
  test(`X-Forwarded-For: "${forwarded_for}" with ${trusted_proxies} trusted: ${fault?.is ?? 'right'}`, () =>
    expect(whyNotForwarded(forged, { address, forwarded_for, trusted_proxies })).toEqual(fault))
