import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setLogo } from '../../../src/actions/merchants/logos.ts'
import { merchantRoles, operatorRoles, permissions } from '../../../src/core/access/permissions.ts'
import { sql } from '../../../src/store/db.ts'
import { everyRoute, nameOf } from '../../support/dashboard/everyRoute.ts'
import { filledPath, type Part } from '../../support/dashboard/filledForms.ts'
import { seedPayment } from '../../support/dashboard/seedPayments.ts'
import { type SeededRows, seedRows, takePayment } from '../../support/dashboard/seedRows.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { speckledPng } from '../../support/merchant/pictures.ts'

// Every page of the dashboard, with data, as every role that may see it: it is light, names no other host, and its policy is
// strict. The full number and the email address of a customer are on no page that was not asked for them.

const maxViewBytes = 30 * 1024 // the page and what it loads, compressed, in a browser without a cache
const minuteMs = 60_000

let gateway: TestGateway
let rows: SeededRows
const users = new Map<string, DashboardClient>()
const taken = new Map<string, string>() // the payment that each user took

beforeAll(async () => {
  gateway = await testGateway()
  rows = await seedRows(gateway)
  const { merchant_id } = rows.merchant
  await setLogo(gateway.db, merchant_id, speckledPng(4096), new Date())
  await seedTrade(merchant_id)
  const lang = 'fr' // its texts are longer
  for (const role of merchantRoles)
    users.set(`merchant ${role}`, await signedIn(gateway, { member: { merchant_id, role }, lang }))
  for (const key of readersOf('merchant', 'take.payment')) {
    const user = users.get(key ?? '')
    if (key && user) taken.set(key, await takePayment(merchant_id, user))
  }
  await nameCustomer(merchant_id)
  for (const role of operatorRoles)
    users.set(`operator ${role}`, await signedIn(gateway, { operator: role, lang }))
})
afterAll(() => gateway.stop())

const customer = { number: '+233241112233', email: 'kwame.mensah@mail.example' }
const anyForm = /24\D?111\D?22\D?33|kwame\.mensah/i

// All payments, wallets and messages are of one customer.
async function nameCustomer(merchant_id: string) {
  const { number, email } = customer
  await gateway.db.rows(
    sql`update payments set number = ${number}, email = ${email} where merchant_id = ${merchant_id}`,
  )
  await gateway.db.rows(sql`
    update attempts set instrument = ${number} where merchant_id = ${merchant_id} and instrument is not null`)
  await gateway.db.rows(sql`
    update messages set recipient = case when recipient like '%@%' then ${email} else ${number} end
    where merchant_id = ${merchant_id}`)
}

// As many payments as fill a list and all parts of the overview.
async function seedTrade(merchant_id: string) {
  const methods = ['mtn_mobile_money', 'telecel_cash', 'airteltigo_money', 'card', 'ghqr']
  for (let at = 0; at < 60; at++)
    await seedPayment(gateway.db, {
      merchant_id,
      mode: 'test',
      at: new Date(Date.now() - (60 - at) * minuteMs),
      status: at % 7 === 3 ? 'failed' : 'paid',
      reason: at % 7 === 3 ? 'Not enough money in the account.' : '',
      total: BigInt(1000 + at * 531),
      method: methods[at % methods.length],
      fee: BigInt(20 + at),
    })
}

const everyRole = [
  ...merchantRoles.map(role => `merchant ${role}`),
  ...operatorRoles.map(role => `operator ${role}`),
]

// The roles that may see a page. Undefined: a browser without a session.
function readersOf(part: Part, permission?: keyof typeof permissions): (string | undefined)[] {
  if (part === 'open') return [undefined]
  if (!permission) return everyRole
  const { merchant, operator } = permissions[permission]
  return [...merchant.map(role => `merchant ${role}`), ...operator.map(role => `operator ${role}`)]
}

type Answer = { status: number; headers: Headers; body: Buffer }

// As a browser receives it: the body stays compressed.
const load = (path: string, cookie = '') =>
  new Promise<Answer>((resolve, reject) => {
    const headers = { cookie, accept: 'text/html', 'accept-encoding': 'gzip, br' }
    const asked = request(gateway.url + path, { headers }, answer => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => {
        const given = Object.entries(answer.headersDistinct).map(
          ([name, values = []]) => [name, values.join(', ')] as [string, string],
        )
        resolve({ status: answer.statusCode ?? 0, headers: new Headers(given), body: Buffer.concat(parts) })
      })
    })
    asked.on('error', reject).end()
  })

const attribute = (tag: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]

// What a browser loads for the page by itself. A link waits for a click.
const loadedBy = (html: string) => [
  ...new Set(
    (html.match(/<(?!a\s)\w+\s[^>]*\s?(?:src|href)="[^"]*"[^>]*>/g) ?? []).flatMap(
      tag => attribute(tag, 'src') ?? attribute(tag, 'href') ?? [],
    ),
  ),
]

function expectStrict(headers: Headers, path: string) {
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy, path).toContain("default-src 'none'")
  expect(policy, path).toMatch(/frame-ancestors '(none|self)'/)
  expect(policy, path).toMatch(/form-action '(self|none)'/)
  expect(policy, path).toMatch(/base-uri 'none'/)
  expect(policy, path).not.toMatch(/unsafe|https?:|data:|\*/)
  expect(headers.get('referrer-policy'), path).toBe('no-referrer')
  expect(headers.get('cache-control'), path).toContain('no-store')
}

// Nothing but a link that a person clicks leads to another host.
function expectOwnHost(html: string, path: string) {
  const tags = html.match(/<[a-z][^>]*>/gi) ?? []
  const leading = tags
    .filter(tag => !/^<a\s/.test(tag))
    .flatMap(tag => [...tag.matchAll(/\s(?:src|srcset|href|action|formaction|data|poster|ping)="([^"]*)"/g)])
    .map(([, address = '']) => address)
  expect(
    leading.filter(address => !/^(\/(?!\/)|#|\?|$)/.test(address)),
    path,
  ).toEqual([])
  expect(html, path).not.toMatch(
    /<style|\sstyle=|\son\w+=|javascript:|http-equiv="refresh" content="\d+;\s*url=http/i,
  )
  expect(html.match(/<script(?![^>]*\ssrc="\/)/g), path).toBeNull()
  expect(html, path).not.toMatch(/<(base|object|embed)\b/i)
}

const routes = (['merchant', 'operator', 'own', 'open'] as const).flatMap(part =>
  everyRoute[part].map(route => ({
    part,
    route,
    permission: 'permission' in route ? route.permission : undefined,
  })),
)

describe('with all that it loads, a page is light, of this host only, and strict', () => {
  for (const { part, route, permission } of routes.filter(one => one.route.method === 'get'))
    test(nameOf(part, route), async () => {
      for (const who of readersOf(part, permission)) {
        const path = filledPath(
          part,
          route.path,
          rows,
          rows.merchant,
          taken.get(who ?? '') ?? rows.merchant.unpaid,
        )
        const { cookie } = (who && users.get(who)) || { cookie: '' }
        const page = await load(path, cookie)
        expect([200, 303], `${path} as ${who}: ${page.status}`).toContain(page.status)
        expect(page.headers.get('x-content-type-options'), path).toBe('nosniff')
        const html = await (await fetch(gateway.url + path, { headers: { cookie } })).text()
        // A list for accounting has them for those who may ask for them, and is recorded.
        const mayHaveAll =
          path.includes('/payments.csv') && readersOf('merchant', 'payments.reveal').includes(who)
        expect(anyForm.test(html), `${path} as ${who}`).toBe(mayHaveAll)
        if (!page.headers.get('content-type')?.startsWith('text/html')) continue
        expectStrict(page.headers, path)
        expectOwnHost(html, path)
        if (part !== 'open') expect(html, path).toContain('<html lang="fr"')
        let bytes = page.body.length
        for (const address of loadedBy(html)) {
          const loaded = await load(address.replaceAll('&amp;', '&'), cookie)
          expect(loaded.status, address).toBe(200)
          bytes += loaded.body.length
        }
        expect(bytes, `${path} as ${who}`).toBeLessThan(maxViewBytes)
      }
    })
})
