import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import { migratedDatabase, query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { testOperatorAuth } from '../support/gateway/operatorAuth.ts'
import { ask, type Got } from '../support/gateway/rawHttp.ts'
import { supportSite } from '../support/gateway/supportSite.ts'
import { minutes } from '../support/payments/rows.ts'

const TOLLGATE_MASTER_KEY = randomBytes(32).toString('hex')
const none = { TOLLGATE_MASTER_KEY, TOLLGATE_SUPPORT_TOKEN: '', TOLLGATE_TRUST_PROXY: '1' }

// Two nodes on one database; the clock is that of both.
let now = new Date()
let one: TestGateway
let other: TestGateway
beforeAll(async () => {
  const database = await migratedDatabase()
  one = await testGateway(none, { clock: () => now }, database)
  other = await testGateway(none, { clock: () => now }, { ...database, drop: async () => {} })
})
afterAll(async () => {
  await other.stop()
  await one.stop()
})

const pathOf = (link: string) => link.slice(new URL(link).origin.length)
const enter = (gateway: TestGateway, link: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(gateway.url, headers, pathOf(link), method)
const cookieOf = ({ headers }: Got) => headers['set-cookie']?.[0]?.split(';')[0] ?? ''
const pages = ['/support', '/inbox', '/metrics']
const statuses = (gateway: TestGateway, cookie: string) =>
  Promise.all(pages.map(async path => (await ask(gateway.url + path, { cookie })).http))
const shut = [401, 401, 403]

test('a link signs a browser in, on every node and to every page of the operator', async () => {
  const link = await one.supportLink()
  expect(link).toMatch(new RegExp(`^${one.url}/support/enter\\?link=[\\w-]{22}$`))
  const entered = await enter(other, link)
  expect([entered.http, entered.headers.location, entered.text]).toEqual([303, '/dashboard/first-visit', ''])
  expect(entered.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^tollgate_support=\d+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    ),
    expect.stringMatching(
      /^tollgate_first_visit=\d+\.[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
    ),
  ])
  expect(entered.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  for (const gateway of [one, other])
    expect(await statuses(gateway, cookieOf(entered))).toEqual([200, 200, 200])
})

test('it works once, on any node, even for requests at the same time', async () => {
  const link = await one.supportLink()
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      enter(n % 2 ? one : other, link, { 'x-forwarded-for': `192.0.2.${n}` }),
    ),
  )
  expect(all.filter(({ http }) => http === 303)).toHaveLength(1)
  const refused = all.filter(({ http }) => http === 403)
  expect(refused).toHaveLength(19)
  for (const { text, headers } of refused) {
    expect(text).toContain('This link does not work any more')
    expect(text).toContain('tollgate support link')
    expect(headers['set-cookie']).toBeUndefined()
  }
})

test('a browser that is signed in may open it again', async () => {
  const link = await one.supportLink()
  const cookie = cookieOf(await enter(one, link))
  const again = await enter(one, link, { cookie })
  expect([again.http, again.headers.location, again.headers['set-cookie']]).toEqual([
    303,
    '/support',
    undefined,
  ])
})

test('a prefetch does not use it up', async () => {
  const link = await one.supportLink()
  for (const [headers, method] of [
    [{}, 'HEAD'],
    [{ 'sec-purpose': 'prefetch;prerender' }, 'GET'],
    [{ purpose: 'prefetch' }, 'GET'],
  ] as const) {
    const looked = await enter(one, link, headers, method)
    expect([looked.http, looked.headers['set-cookie']]).toEqual([204, undefined])
  }
  expect((await enter(one, link)).http).toBe(303)
})

test('it works for 15 minutes, and creating the next one removes expired ones', async () => {
  const [early, late] = [await one.supportLink(), await one.supportLink()]
  const made = now
  now = new Date(made.getTime() + minutes(15) - 1)
  expect((await enter(other, early)).http).toBe(303)
  now = new Date(made.getTime() + minutes(15))
  expect((await enter(other, late)).http).toBe(403)
  await one.supportLink()
  const left = await query(one.databaseUrl, 'select * from support_links where expires_at <= $1', [now])
  expect(left).toEqual([])
})

test('a session ends after seven days', async () => {
  const cookie = cookieOf(await enter(one, await one.supportLink()))
  const began = now
  now = new Date(began.getTime() + minutes(7 * 24 * 60) - 1000)
  expect(await statuses(one, cookie)).toEqual([200, 200, 200])
  now = new Date(began.getTime() + minutes(7 * 24 * 60))
  expect(await statuses(one, cookie)).toEqual(shut)
  now = began
})

for (const [what, link] of [
  ['no link', ''],
  ['an empty one', '?link='],
  ['another', `?link=${'A'.repeat(22)}`],
  ['a very long one', `?link=${'A'.repeat(5000)}`],
  ['what the database would not take', '?link=%00'],
  ['two', `?link=${'A'.repeat(22)}&link=${'B'.repeat(22)}`],
] as const)
  test(`${what} does not sign in`, async () => {
    const got = await ask(one.url, { 'x-forwarded-for': '198.51.100.9' }, `/support/enter${link}`)
    expect([got.http, got.headers['set-cookie']]).toEqual([403, undefined])
  })

test('guessed links are slowed by address, together with passwords', async () => {
  const from = (address: string, path: string) => ask(one.url, { 'x-forwarded-for': address }, path)
  const guesses = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      from('198.51.100.20', `/support/enter?link=${String(n).padStart(22, 'x')}`),
    ),
  )
  expect(new Set(guesses.map(({ http }) => http))).toEqual(new Set([403, 429]))
  const slowed = guesses.filter(({ http }) => http === 429)
  expect(slowed.length).toBeGreaterThan(50)
  expect(slowed[0]?.headers['retry-after']).toMatch(/^[1-9]/)
  expect((await from('198.51.100.21', pathOf(await one.supportLink()))).http).toBe(303)
})

test('neither the database nor the log has a link, a session or the token', async () => {
  const link = await one.supportLink()
  const secret = new URL(link).searchParams.get('link') ?? ''
  const stored = JSON.stringify(await query(one.databaseUrl, 'select * from support_links'))
  expect(stored).toContain('link_digest')
  const session = cookieOf(await enter(one, link)).split('=')[1] ?? ''
  await statuses(one, `tollgate_support=${session}`)
  const logged = [...one.logs, ...other.logs].join('\n')
  expect(logged).toContain('"route":"/support/*"')
  for (const text of [stored, logged])
    for (const hidden of [secret, session, session.split('.')[1] ?? '']) expect(text).not.toContain(hidden)
})

test('a row that an attacker inserts into the database is not a valid link', async () => {
  const link = 'C'.repeat(22)
  for (const digest of [
    link,
    ...(['hex', 'base64', 'base64url'] as const).map(as => createHash('sha256').update(link).digest(as)),
  ])
    await query(one.databaseUrl, `insert into support_links values ($1, now() + interval '1 day')`, [digest])
  expect((await enter(one, `${one.url}/support/enter?link=${link}`)).http).toBe(403)
})

describe('with another token', () => {
  test('a restart with TOLLGATE_SUPPORT_TOKEN ends sessions, and links still work', async () => {
    const cookie = cookieOf(await enter(one, await one.supportLink()))
    const link = await one.supportLink()
    const again = await testGateway(
      { ...none, TOLLGATE_SUPPORT_TOKEN: 'a password of sixteen' },
      { clock: () => now },
      { url: one.databaseUrl, drop: async () => {} },
    )
    expect(await statuses(again, cookie)).toEqual(shut)
    expect(await statuses(again, cookieOf(await enter(again, link)))).toEqual([200, 200, 200])
    await again.stop()
  })

  test('a restart without it keeps sessions', async () => {
    const cookie = cookieOf(await enter(one, await one.supportLink()))
    const again = await testGateway(
      none,
      { clock: () => now },
      { url: one.databaseUrl, drop: async () => {} },
    )
    expect(await statuses(again, cookie)).toEqual([200, 200, 200])
    await again.stop()
  })
})

test('if the base address is https, the cookie is secure and bound to its host', async () => {
  const secure = await testGateway({ TOLLGATE_BASE_URL: 'https://pay.example' })
  const link = await secure.supportLink()
  expect(link).toMatch(/^https:\/\/pay\.example\/support\/enter\?link=/)
  const entered = await enter(secure, link)
  expect(entered.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^__Host-tollgate_support=\S+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
    expect.stringMatching(
      /^__Host-tollgate_first_visit=\S+; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
  ])
  expect(await statuses(secure, cookieOf(entered))).toEqual([200, 200, 200])
  expect(await statuses(secure, cookieOf(entered).replace('__Host-', ''))).toEqual(shut)
  await secure.stop()
})

const gone = () => Promise.reject(new Unavailable(new Error('gone')))

test('while the database is unavailable, the page asks to open the link again', async () => {
  const db = { ...one.db, count: gone }
  const runtime = {
    db,
    clock: () => now,
    wake: () => {},
    formKey: Buffer.alloc(32, 7),
    baseUrl: () => 'http://pay.example',
  }
  const site = await supportSite(runtime, testOperatorAuth('a password of sixteen'))
  const { http, headers, text } = await ask(`${site.url}/support/enter?link=${'A'.repeat(22)}`)
  site.stop()
  expect([http, headers['retry-after'], headers['set-cookie']]).toEqual([503, '5', undefined])
  expect(text).toContain('Open the link again in a moment')
})
