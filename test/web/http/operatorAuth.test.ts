import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installationSecrets } from '../../../src/actions/installation/secrets.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { ask, basic, bearer, dial, type Got } from '../../support/gateway/rawHttp.ts'

const supportToken = 'a password of sixteen'
const metricsToken = 'a token of sixteen letters'
const set = { TOLLGATE_SUPPORT_TOKEN: supportToken, TOLLGATE_METRICS_TOKEN: metricsToken }
const none = { TOLLGATE_SUPPORT_TOKEN: '' } // as a newcomer starts it
const pages = ['/support', '/inbox', '/metrics'] as const
const shows = /<form action="\/support"|Mails and SMS, newest first|tollgate_http/

async function withGateway(env: Record<string, string>, run: (gateway: TestGateway) => Promise<void>) {
  const gateway = await testGateway(env)
  try {
    await run(gateway)
  } finally {
    await gateway.stop()
  }
}

const storedToken = async ({ db, masterKeys }: TestGateway) =>
  (await installationSecrets(db, masterKeys, new Date())).supportToken

// What the gateway receives from a proxy of its own machine whose settings were left as they come.
const proxied = [
  ['nginx up to 1.29.6', 'HTTP/1.0\r\nhost: 127.0.0.1:8080\r\nconnection: close'],
  ['nginx from 1.29.7 on', 'HTTP/1.1\r\nhost: 127.0.0.1:8080'],
  ['HAProxy, for a client that names loopback', 'HTTP/1.1\r\nhost: localhost'],
  ['HAProxy, for any other client', 'HTTP/1.1\r\nhost: pay.example'],
  ['a proxy that names its client', 'HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 203.0.113.9'],
] as const

describe('neither base address nor token is set', () => {
  let gateway: TestGateway
  beforeAll(async () => void (gateway = await testGateway(none)))
  afterAll(() => gateway.stop())

  for (const path of pages)
    test(`${path} is refused to this machine under every name, with the instructions to sign in`, async () => {
      for (const host of ['localhost', '127.0.0.1:8080', '[::1]:8080', 'pay.example', ''])
        for (const accept of ['text/html', 'application/json', '*/*']) {
          const { http, text } = await ask(gateway.url + path, { host, accept })
          expect([host, http]).toEqual([host, path === '/metrics' ? 403 : 401])
          expect(text).toContain(path === '/metrics' ? 'tollgate support token' : 'tollgate support link')
          expect(text).not.toMatch(shows)
        }
    })

  for (const [who, head] of proxied)
    test(`/support, /inbox and /metrics are refused through ${who}`, async () => {
      for (const path of pages) {
        const { socket, heard, ended } = await dial(gateway.url)
        const close = head.includes('connection') ? '' : '\r\nconnection: close'
        socket.write(`GET ${path} ${head}${close}\r\n\r\n`)
        await ended
        expect([path, heard().slice(9, 12)]).toEqual([path, path === '/metrics' ? '403' : '401'])
        expect(heard()).not.toMatch(shows)
      }
    })

  test('the stored token opens all three, as a password by any name or as a bearer token', async () => {
    const token = await storedToken(gateway)
    expect(token).toMatch(/^[\w-]{32}$/)
    for (const path of pages)
      for (const headers of [bearer(token), basic(`ama:${token}`), basic(`:${token}`)])
        expect(await ask(gateway.url + path, headers)).toMatchObject({
          http: 200,
          text: expect.stringMatching(shows),
        })
  })

  test('a browser gets no password prompt if no password is set', async () => {
    const { headers } = await ask(`${gateway.url}/support`)
    expect(headers['www-authenticate']).toBe('Bearer realm="Tollgate support"')
  })

  test('no log line has the token', async () => {
    const token = await storedToken(gateway)
    expect(gateway.logs.length).toBeGreaterThan(0)
    expect(gateway.logs.filter(line => line.includes(token))).toEqual([])
  })
})

for (const [how, env] of [
  ['as a newcomer starts it', {}],
  ['with a base address', { TOLLGATE_BASE_URL: 'https://pay.example' }],
  ['behind a proxy that it trusts', { TOLLGATE_TRUST_PROXY: '1' }],
  ['listening to everybody', { HOST: '0.0.0.0' }],
] as const)
  test(`TOLLGATE_SUPPORT_TOKEN is the only password, ${how}`, () =>
    withGateway({ ...env, ...set }, async gateway => {
      const { url } = gateway
      const more = [{}, { host: 'pay.example' }, { 'x-forwarded-for': '203.0.113.9', via: '1.1 edge' }]
      for (const path of pages) {
        for (const headers of more) {
          const named = headers as Record<string, string>
          expect([401, 403]).toContain((await ask(url + path, named)).http)
          expect(await ask(url + path, { ...basic(`ama:${supportToken}`), ...named })).toMatchObject({
            http: 200,
            text: expect.stringMatching(shows),
          })
        }
        expect([401, 403]).toContain((await ask(url + path, bearer(await storedToken(gateway)))).http)
      }
      expect((await ask(`${url}/support`)).headers['www-authenticate']).toMatch(/^Basic /)
    }))

test('TOLLGATE_METRICS_TOKEN opens /metrics, and nothing else', () =>
  withGateway({ ...none, TOLLGATE_METRICS_TOKEN: metricsToken }, async gateway => {
    const opened = async (path: string, token: string) =>
      (await ask(gateway.url + path, bearer(token))).http === 200
    expect(await Promise.all(pages.map(path => opened(path, metricsToken)))).toEqual([false, false, true])
    const token = await storedToken(gateway)
    expect(await Promise.all(pages.map(path => opened(path, token)))).toEqual([true, true, true])
  }))

test('during a rotation the old tokens stay valid beside the new ones', () => {
  const old = { support: 'an old password of sixteen', metrics: 'an old token of sixteen letters' }
  const both = {
    TOLLGATE_SUPPORT_TOKEN: `${supportToken},${old.support}`,
    TOLLGATE_METRICS_TOKEN: `${metricsToken},${old.metrics}`,
  }
  return withGateway(both, async ({ url }) => {
    const opened = async (path: string, token: string) => (await ask(url + path, bearer(token))).http === 200
    for (const token of [supportToken, old.support]) expect(await opened('/support', token)).toBe(true)
    for (const token of [metricsToken, old.metrics]) {
      expect(await opened('/metrics', token)).toBe(true)
      expect(await opened('/support', token)).toBe(false)
    }
  })
})

// 300 wrong ones at once: an address has 20, and gets one more each second.
async function guess(one: (n: number) => Promise<Got>) {
  const started = performance.now()
  const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => one(n)))
  const gained = Math.ceil((performance.now() - started) / 1000)
  const refused = answers.filter(({ http }) => http === 429)
  const compared = answers.filter(({ http }) => http === 401 || http === 403)
  expect(refused.length + compared.length).toBe(300)
  expect(compared.length).toBeGreaterThanOrEqual(20)
  expect(compared.length).toBeLessThanOrEqual(20 + gained)
  return refused
}

const wrongPassword = (n: number) => basic(`ama:guess number ${n}`)
const wrongToken = (n: number) => bearer(`guess number ${n}`)

describe('wrong tokens', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await testGateway({ ...set, TOLLGATE_TRUST_PROXY: '1' })
  })
  afterAll(() => gateway.stop())

  const from = (address: string, headers: Record<string, string>, path: string) =>
    ask(gateway.url + path, { ...headers, 'x-forwarded-for': address })

  const right = { '/support': basic(`ama:${supportToken}`), '/metrics': bearer(metricsToken) }

  for (const [path, wrong, other] of [
    ['/support', wrongPassword, '/metrics'],
    ['/metrics', wrongToken, '/support'],
  ] as const)
    test(`300 at ${path} are slowed; other addresses and the other page are not`, async () => {
      const guesser = path === '/support' ? '192.0.2.11' : '192.0.2.12' // known to neither door
      for (const { headers, text } of await guess(n => from(guesser, wrong(n), path))) {
        expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
        expect(headers['cache-control']).toBe('no-store')
        expect(text).toMatch(/too many wrong/i)
        expect(text).not.toContain(supportToken)
      }
      for (const address of ['192.0.2.2', '198.51.100.7'])
        expect((await from(address, right[path], path)).http).toBe(200)
      expect((await from(guesser, right[other], other)).http).toBe(200)
    })

  test('/support and /inbox count together: they have one password', () =>
    guess(n => from('192.0.2.78', wrongPassword(n), n % 2 === 0 ? '/support' : '/inbox')))

  test('a request without a token gets the password prompt and is not counted', async () => {
    for (let n = 0; n < 60; n++) expect((await from('192.0.2.79', {}, '/support')).http).toBe(401)
    expect((await from('192.0.2.79', right['/support'], '/support')).http).toBe(200)
  })

  for (const [what, spell] of [
    ['an address', (n: number) => `192.0.2.80:${40_000 + n}`],
    ['a bracketed one', (n: number) => `[2001:db8:1:2::${n}]:${40_000 + n}`],
  ] as const)
    test(`${what} is one, whatever port a proxy adds to it`, async () => {
      await guess(n => from(spell(n), wrongPassword(n), '/support'))
      expect((await from('192.0.2.81:40000', right['/support'], '/support')).http).toBe(200)
    })
})
