import { createHmac } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { bodyOf, serve } from './handler.ts'
import { developerEnv, runCommand } from './terminal.ts'

let gateway: TestGateway
let merchant: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const demoEnv = () => ({
  ...developerEnv('http://127.0.0.1:9'),
  TOLLGATE_MERCHANT_KEY: 'demo-merchant',
  TOLLGATE_MERCHANT_SECRET: '00112233445566778899aabbccddeeff',
  TOLLGATE_IPN_SECRET: 'whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IGF0IGFsbCE=',
})

test('every command has help with an example, and wrong usage is explained', async () => {
  const env = developerEnv()
  const { code, out } = await runCommand(['--help'], env)
  expect(code).toBe(0)
  for (const name of ['listen', 'trigger', 'clock', 'exam', 'sign', 'requests', 'login']) {
    expect(out).toContain(`  ${name}`)
    const help = await runCommand([name, '--help'], env)
    expect(help.code).toBe(0)
    expect(help.out).toContain(`npx $TOLLGATE_URL/sdk/merchant.tgz ${name}`)
    expect(help.out).not.toMatch(/npx (@?tollgate|merchant)/) // names that nobody has registered
    const wrong = await runCommand([name, '--no-such-option'], env)
    expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('Usage: ')])
  }
  expect(await runCommand(['nothing'], env)).toMatchObject({
    code: 2,
    errors: expect.stringContaining('listen'),
  })
  expect((await runCommand([], env)).code).toBe(2)
})

for (const args of [
  ['listen', '--secret', 'abc'],
  ['login', '--merchant-secret=abc'],
  ['sign', 'invoice_id=1', '--ipn-secret', 'whsec_YWJj'],
  ['listen', 'whsec_YWJj'],
])
  test(`a secret on the command line is refused: ${args.join(' ')}`, async () => {
    const { code, errors } = await runCommand(args, demoEnv())
    expect([code, errors]).toEqual([2, expect.stringContaining('TOLLGATE_MERCHANT_SECRET')])
    expect(errors).not.toContain('YWJj')
  })

const loggedIn = async (secret: string) => {
  const env = developerEnv()
  const { merchant_key, ipn_secret } = merchant.test
  const args = ['login', '--url', gateway.url, '--key', merchant_key]
  const result = await runCommand(args, env, { answers: [secret, ipn_secret] })
  return { env, ...result, path: join(env.XDG_CONFIG_HOME ?? '', 'tollgate/merchant.json') }
}

describe('login', () => {
  test('stores checked keys in a file for the owner only, and other commands use it', async () => {
    const { env, code, out, errors, hidden, path } = await loggedIn(merchant.test.secret_key)
    expect([code, hidden.length]).toEqual([0, 2])
    expect(out + errors).not.toContain(merchant.test.secret_key)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ merchantKey: merchant.test.merchant_key })
    expect((await runCommand(['listen', '--since', 'all', '--once'], env)).code).toBe(0)
    chmodSync(path, 0o640)
    const open = await runCommand(['listen', '--once'], env)
    expect([open.code, open.errors]).toEqual([1, expect.stringContaining(`chmod 600 '${path}'`)])
  })

  test('stores nothing that the gateway refuses', async () => {
    const { code, errors, path } = await loggedIn('wrong')
    expect([code, errors, existsSync(path)]).toEqual([1, expect.stringContaining('GW-010'), false])
  })

  test('a secret of the file is not used with another key', async () => {
    const { env } = await loggedIn(merchant.test.secret_key)
    const other = { ...env, TOLLGATE_MERCHANT_KEY: 'tk_other' }
    const { code, errors } = await runCommand(['listen', '--once'], other)
    expect([code, errors]).toEqual([1, expect.stringContaining('TOLLGATE_MERCHANT_SECRET')])
  })
})

const hmac = (key: string | Buffer, signed: string, digest = 'sha256') =>
  createHmac(digest, key).update(signed).digest('hex')

describe('sign', () => {
  const fields = ['invoice_id=invoice001', 'total=25.00']
  const right = '6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583'
  const secret = '00112233445566778899aabbccddeeff'
  const text = 'invoice_id=invoice001&merchant_key=demo-merchant&total=25.00'
  test('prints the text and the hash', async () => {
    const { code, out } = await runCommand(['sign', ...fields], demoEnv())
    expect([code, out.split('\n').slice(0, 2)]).toEqual([0, [`text  ${text}`, `hash  ${right}`]])
  })

  for (const [hash, says] of [
    [right, 'Your hash is right'],
    [right.toUpperCase(), 'Your hash is right'],
    [hmac(Buffer.from(secret, 'hex'), text), 'Your hash is right'],
    [Buffer.from(right, 'hex').toString('base64'), 'base64'],
    [hmac(secret, 'merchant_key=demo-merchant&invoice_id=invoice001&total=25.00'), 'alphabetical order'],
    [hmac(secret, `${text}\n`), 'line break'],
    [hmac(secret, text.replace('25.00', '25')), 'total is written in another way'],
    [hmac(secret, text.replace('25.00', '2500')), 'total is written in another way'],
    [hmac(secret, 'invoice001demo-merchant25.00'), 'only the values'],
    [hmac('demo-merchant', text), 'merchant key was used'],
    [hmac(`${secret}\n`, text), 'line break or space at its end'],
    [hmac(secret, text, 'sha512'), 'HMAC-SHA512'],
    [hmac(text, secret), 'exchanged'],
    [hmac(secret, text.replaceAll('&', '')), 'joined by &'],
    ['0'.repeat(64), 'none of the usual mistakes'],
    ['abc', '3 characters'],
  ] as const)
    test(`${hash.slice(0, 12)}: ${says}`, async () => {
      const { code, out } = await runCommand(['sign', ...fields, '--compare', hash], demoEnv())
      expect([code, out]).toEqual([says.includes('right') ? 0 : 1, expect.stringContaining(says)])
    })

  test('shows where a text differs', async () => {
    const { code, out } = await runCommand(
      ['sign', ...fields, '--text', text.replace('25.00', '25.0')],
      demoEnv(),
    )
    expect([code, out]).toEqual([1, expect.stringContaining(`from character ${text.length}`)])
  })
})

// An endpoint that verifies the signature of the contract: all fields but the hash, sorted by name.
async function contractGateway(...answers: object[]) {
  const received: Record<string, string>[] = []
  const url = await serve(async (request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '', 'http://gateway')
    const body = await bodyOf(request)
    const sent = (body ? JSON.parse(body) : Object.fromEntries(searchParams)) as Record<string, string>
    const { secure_hash, ...fields } = sent
    const text = Object.entries(fields)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${value}`)
      .join('&')
    const isSigned = secure_hash === createHmac('sha256', 'secret').update(text).digest('hex')
    received.push({ path: pathname, method: String(request.method), signed: String(isSigned), ...fields })
    response.end(JSON.stringify({ success: true, ...(answers[received.length - 1] ?? answers.at(-1)) }))
  })
  const keys = { merchant_key: 'tk_1', secret_key: 'secret', ipn_secret: 'whsec_YWJj' }
  return { env: developerEnv(url, keys), received }
}

describe('trigger, clock and requests', () => {
  test('a trigger is signed, and shows the payment', async () => {
    const { env, received } = await contractGateway({
      invoice_id: 'A-1',
      tx_reference: 'TG-1',
      status: 'awaiting_payment',
      checkout_url: 'http://pay/checkout/1',
      message: 'On its way.',
    })
    const { code, out } = await runCommand(['trigger', 'wrong-amount', '--total', '10.50'], env)
    expect([code, out]).toEqual([0, expect.stringContaining('TG-1')])
    expect(received).toMatchObject([
      { path: '/v1/test/triggers', method: 'POST', signed: 'true', outcome: 'wrong_amount', total: '10.50' },
    ])
    expect(Math.abs(Number(received[0]?.time) - Date.now() / 1000)).toBeLessThan(5)
  })

  test('the clock is signed, and shows the counts', async () => {
    const { env, received } = await contractGateway(
      { moved: { payments: 1, notifications: 0, messages: 1 }, more: true, next: 'TG-1' },
      { moved: { payments: 1 }, more: false },
    )
    const { code, out } = await runCommand(['clock', 'advance', '24h'], env)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/24h further\.\n +2 {2}payments\n +1 {2}messages$/),
    ])
    const step = { path: '/v1/test/clock', signed: 'true', advance: '24h' }
    expect(received).toMatchObject([step, { ...step, after: 'TG-1' }])
  })

  test('refused requests are shown with their reasons', async () => {
    const refused = {
      request_id: 'req_1',
      time: '2026-11-18T06:00:00.000Z',
      method: 'POST',
      path: '/v1/mobile_agents_v2',
      http: 401,
      code: 'GW-010',
      field: 'secure_hash',
      message: 'secure_hash: does not match\u001b[31m',
      hint: { likely_mistake: 'a line break was hashed too' },
      fields: {},
    }
    const { env, received } = await contractGateway({ requests: [refused], next: '7' })
    const { code, out, errors } = await runCommand(['requests', '--limit', '5'], env)
    expect([code, errors]).toEqual([0, 'Older ones: requests --limit 5 --after 7'])
    expect(out).toContain('401  GW-010  POST /v1/mobile_agents_v2  req_1')
    expect(out).toContain('likely mistake: a line break was hashed too')
    expect(out).not.toContain('\u001b') // a stored request must not write to the terminal
    expect(received).toMatchObject([{ path: '/v1/requests', method: 'GET', signed: 'true', limit: '5' }])
  })

  for (const [args, says] of [
    [['trigger', 'exploded'], 'Use one of paid'],
    [['trigger'], 'The outcome is missing'],
    [['clock', 'advance', '24'], '24h'],
    [['clock'], 'clock advance'],
  ] as const)
    test(`${args.join(' ')}: ${says}`, async () => {
      const { code, errors } = await runCommand([...args], demoEnv())
      expect([code, errors]).toEqual([2, expect.stringContaining(says)])
    })

  test('a live key is refused before anything is sent', async () => {
    const env = { ...demoEnv(), TOLLGATE_MERCHANT_KEY: 'lk_1' }
    for (const args of [
      ['trigger', 'paid'],
      ['clock', 'advance', '1h'],
    ])
      expect((await runCommand(args, env)).errors).toContain('test key only')
  })

  test('a gateway without these endpoints is named', async () => {
    const url = await serve((_, response) => response.writeHead(404).end('nothing here'))
    const env = { ...demoEnv(), TOLLGATE_URL: url, TOLLGATE_MERCHANT_KEY: 'tk_1' }
    for (const args of [['trigger', 'paid'], ['clock', 'advance', '1h'], ['requests']])
      expect(await runCommand(args, env)).toMatchObject({ code: 1, errors: expect.stringContaining('older') })
  })
})
