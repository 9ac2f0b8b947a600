import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, basic, type Got } from '../../support/ask.ts'
import { type TestGateway, testGateway } from '../../support/gateway.ts'
import { dial } from '../../support/rawSocket.ts'

const supportToken = 'a password of sixteen'
const metricsToken = 'a token of sixteen letters'
const tokens = { TOLLGATE_SUPPORT_TOKEN: supportToken, TOLLGATE_METRICS_TOKEN: metricsToken }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const doors = [
  ['/support', 'TOLLGATE_SUPPORT_TOKEN', basic(`ama:${supportToken}`)],
  ['/inbox', 'TOLLGATE_SUPPORT_TOKEN', basic(`ama:${supportToken}`)],
  ['/metrics', 'TOLLGATE_METRICS_TOKEN', bearer(metricsToken)],
] as const

const names: Record<string, string>[] = [
  {},
  { host: 'pay.example' },
  { 'x-forwarded-for': '203.0.113.9', via: '1.1 edge' },
]
const shows = /<html|tollgate_http/ // a page, or numbers

async function withGateway(env: Record<string, string>, run: (gateway: TestGateway) => Promise<void>) {
  const gateway = await testGateway(env)
  try {
    await run(gateway)
  } finally {
    await gateway.stop()
  }
}

for (const [how, env] of [
  ['it has a base address', { TOLLGATE_BASE_URL: 'https://pay.example' }],
  ['it trusts a proxy', { TOLLGATE_TRUST_PROXY: '1' }],
  ['it listens to everybody', { HOST: '0.0.0.0' }],
] as const)
  describe(`where ${how}, this machine is anybody`, () => {
    test('without a token the doors are shut, and say which setting opens them', () =>
      withGateway(env, async ({ url }) => {
        for (const [path, setting, right] of doors)
          for (const headers of [{}, { host: 'localhost' }, right] as Record<string, string>[]) {
            const { http, text } = await ask(url + path, headers)
            expect([path, http]).toEqual([path, 403])
            expect(text).toContain(setting)
            expect(text).not.toContain('this machine only')
          }
      }))
    test('who has the token passes, by any name and through any proxy', () =>
      withGateway({ ...env, ...tokens }, async ({ url }) => {
        for (const [path, , right] of doors) {
          expect([401, 403]).toContain((await ask(url + path)).http)
          for (const more of names)
            expect(await ask(url + path, { ...right, ...more })).toMatchObject({
              http: 200,
              text: expect.stringMatching(shows),
            })
        }
      }))
  })

describe('on a gateway for this machine only', () => {
  let gateway: TestGateway
  beforeAll(async () => void (gateway = await testGateway()))
  afterAll(() => gateway.stop())

  test.each(doors)('%s is open to it, by its own names', async path => {
    for (const host of [
      'localhost',
      'localhost:8080',
      '127.0.0.1',
      '127.0.0.1:80',
      '[::1]:8080',
      'LOCALHOST',
    ])
      expect([host, (await ask(gateway.url + path, { host })).http]).toEqual([host, 200])
  })

  test.each(doors)('%s is shut to a name that a stranger gave to this machine', async (path, setting) => {
    for (const host of [
      'evil.example',
      'evil.example:8080',
      'localhost.evil.example',
      'evil-localhost',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '0.0.0.0',
      '[fe80::1]',
    ]) {
      const { http, text } = await ask(gateway.url + path, { host })
      expect([host, http]).toEqual([host, 403])
      expect(text).toContain(setting)
    }
  })

  test('and to who names nobody', async () => {
    for (const [path] of doors)
      for (const head of [
        'HTTP/1.1\r\nhost:',
        'HTTP/1.0',
        'HTTP/1.1\r\nhost: \r\nx-forwarded-host: localhost',
      ]) {
        const { socket, heard, ended } = await dial(gateway.url)
        socket.write(`GET ${path} ${head}\r\nconnection: close\r\n\r\n`)
        await ended
        expect([path, head, heard().slice(9, 12)]).toEqual([path, head, '403'])
      }
  })

  test('and to who asks as a proxy does that was told nothing', async () => {
    for (const [path] of doors) {
      const { socket, heard, ended } = await dial(gateway.url)
      socket.write(`GET ${path} HTTP/1.0\r\nhost: 127.0.0.1:8080\r\nconnection: close\r\n\r\n`)
      await ended
      expect([path, heard().slice(9, 12)]).toEqual([path, '403'])
    }
  })

  for (const [name, value] of [
    ['x-forwarded-for', '203.0.113.9'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['x-forwarded-host', 'localhost'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-port', '443'],
    ['x-forwarded-server', 'edge'],
    ['x-original-forwarded-for', '203.0.113.9'],
    ['forwarded', 'for=203.0.113.9'],
    ['via', '1.1 edge'],
    ['x-real-ip', '203.0.113.9'],
    ['x-client-ip', '203.0.113.9'],
    ['x-cluster-client-ip', '203.0.113.9'],
    ['true-client-ip', '203.0.113.9'],
    ['fastly-client-ip', '203.0.113.9'],
    ['fly-client-ip', '203.0.113.9'],
    ['cf-connecting-ip', '203.0.113.9'],
    ['do-connecting-ip', '203.0.113.9'],
    ['cf-ray', '7d1-LHR'],
    ['cdn-loop', 'cloudflare'],
    ['x-envoy-external-address', '203.0.113.9'],
    ['x-amzn-trace-id', 'Root=1-6'],
    ['x-amz-cf-id', 'abc'],
    ['x-cloud-trace-context', '1/2'],
    ['x-azure-clientip', '203.0.113.9'],
    ['x-arr-log-id', '1'],
    ['x-vercel-forwarded-for', '203.0.113.9'],
    ['x-nf-client-connection-ip', '203.0.113.9'],
    ['proxy-connection', 'keep-alive'],
  ] as const)
    test(`"${name}: ${value}" says that somebody else asks`, async () => {
      for (const [path] of doors)
        expect([path, (await ask(gateway.url + path, { [name]: value })).http]).toEqual([path, 403])
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
    gateway = await testGateway({ ...tokens, TOLLGATE_TRUST_PROXY: '1' })
  })
  afterAll(() => gateway.stop())

  const from = (address: string, headers: Record<string, string>, path: string) =>
    ask(gateway.url + path, { ...headers, 'x-forwarded-for': address })

  const right = { '/support': basic(`ama:${supportToken}`), '/metrics': bearer(metricsToken) }

  for (const [path, wrong, other] of [
    ['/support', wrongPassword, '/metrics'],
    ['/metrics', wrongToken, '/support'],
  ] as const)
    test(`300 at ${path} are slowed; other addresses and the other door are not`, async () => {
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

  test('who shows nothing is asked for the password, and counts for nothing', async () => {
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
