import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { everyRoute, nameOf, requestsTo } from '../../support/dashboard/everyRoute.ts'
import { filledFields, filledPath } from '../../support/dashboard/filledForms.ts'
import { type SeededRows, seedRows, takePayment } from '../../support/dashboard/seedRows.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// Markup, formulas and ends of header lines: in every field of every form, in every parameter of every address, and in every
// text that shops, customers, providers and users have written. No page has the markup as markup, no file for spreadsheets a
// formula, and no answer a header of the attacker's.

const attack = '=HYPERLINK("https://evil.example")"><script>x</script>\'\r\nSet-Cookie: evil=1\r\nX-Evil: 1'

let gateway: TestGateway
let rows: SeededRows
let requests: Awaited<ReturnType<typeof requestsTo>>
let owner: DashboardClient
let admin: DashboardClient
let taken: string

const routes = (['merchant', 'operator', 'own', 'open'] as const).flatMap(part =>
  everyRoute[part].map(route => ({ part, route })),
)
type Listed = (typeof routes)[number]

beforeAll(async () => {
  gateway = await testGateway()
  rows = await seedRows(gateway)
  requests = await requestsTo(gateway)
  const { merchant_id } = rows.merchant
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, name: attack })
  admin = await signedIn(gateway, { operator: 'admin', name: attack })
  taken = await takePayment(merchant_id, owner)
  await plant()
})
afterAll(() => gateway.stop())

// Texts of people and of other systems. Each is the attack from here on.
const texts: Readonly<Record<string, readonly string[]>> = {
  merchants: ['name'],
  outlets: ['name'],
  users: ['name'],
  user_sessions: ['agent'],
  payments: [
    'name',
    'description',
    'status_reason',
    'payment_reference',
    'payment_method',
    'card_type',
    'psp_response_code',
    'psp_response_msg',
    'payment_instrument',
    'wallet_issuer_hint',
  ],
  attempts: [
    'provider_text',
    'provider_ref',
    'provider_code',
    'psp_response_code',
    'psp_response_msg',
    'card_type',
  ],
  events: ['reason'],
  tasks: ['note', 'closed_note', 'owner_note'],
  refunds: ['reason', 'state_reason', 'provider_code', 'recorded_reference', 'operator'],
  refund_approvals: ['reason', 'decision_reason', 'invoice_id'],
  reversals: ['reason'],
  disputes: ['reason'],
  deliveries: ['last_words'],
  messages: ['words'],
  provider_accounts: ['label'],
}

async function plant() {
  const { merchant_id } = rows.merchant
  await gateway.db.rows(sql`
    insert into outlets (merchant_id, code, name, created_at) values (${merchant_id}, 'osu', 'Osu', now())`)
  await gateway.db.rows(sql`
    insert into refused_requests (merchant_id, request_id, mode, refused_at, method, path, http, code, field, message, hint,
      fields)
    values (${merchant_id}, 'req_1', 'test', now(), 'POST', ${attack}, 400, 'GW-012', ${attack}, ${attack},
      ${JSON.stringify({ text: attack })}, ${JSON.stringify({ [attack]: attack })})`)
  await gateway.db.rows(sql`update payments set invoice_id = ${attack} || tx_reference, outlet = 'osu'`)
  for (const [table, columns] of Object.entries(texts))
    for (const column of columns)
      await gateway.db.rows(sql`update ${sql([table])} set ${sql([column])} = ${attack}`)
}

const userOf = ({ part }: Listed) => (part === 'operator' ? admin : part === 'open' ? undefined : owner)
const pathOf = (listed: Listed) => filledPath(listed.part, listed.route.path, rows, rows.merchant, taken)

async function expectHarmless(answer: Response, what: string) {
  expect(answer.status, what).toBeLessThan(500)
  const text = await answer.text()
  expect(answer.headers.get('x-evil'), what).toBeNull()
  expect(
    answer.headers.getSetCookie().filter(line => line.startsWith('evil')),
    what,
  ).toEqual([])
  expect(answer.headers.get('location') ?? '/', what).toMatch(/^\/(?![/\\])/)
  const disposition = answer.headers.get('content-disposition')
  if (disposition) expect(disposition, what).toMatch(/^attachment; filename="[\w.-]+"$/)
  if (answer.headers.get('content-type')?.startsWith('text/html'))
    expect(text, what).not.toMatch(/<script>x|"><script/)
  if (answer.headers.get('content-type')?.startsWith('text/csv'))
    expect(text, what).not.toMatch(/(^|,)"?(?:[=+@\t\uff1d\uff0b\uff0d\uff20]|\r(?!\n)|-(?!\d))/m)
  return text
}

const open = (listed: Listed, path: string) => requests.send({ method: 'get', path }, path, userOf(listed))
const pages = routes.filter(({ route }) => route.method === 'get')
const forms = routes.filter(({ route }) => route.method === 'post')

describe('what others have written is text', () => {
  for (const listed of pages)
    test(nameOf(listed.part, listed.route), async () => {
      const path = pathOf(listed)
      await expectHarmless(await open(listed, path), path)
    })
})

test('the files for spreadsheets and the lists have these texts', async () => {
  const { merchant_id } = rows.merchant
  const base = `/dashboard/m/${merchant_id}/test`
  for (const path of ['/payments', '/payments.csv', '/take', '/developers/requests', '/money/refunds'])
    expect(await owner.html(base + path), path).toContain('HYPERLINK')
  for (const path of ['/tasks', '/refunds', '/messages', '/merchants', '/accounts', '/users'])
    expect(await admin.html(`/dashboard/operator${path}`), path).toContain('HYPERLINK')
})

// Those that any page reads. Some are also sent alone, because another one may be refused first.
const alone = 'q next done state provider user period'
const names =
  'q next done before after asked at behind currency day from to id kind mode outlet owner passkey period provider state ' +
  'stopped user status method seen part amount reason attempt actor action subject accent support_phone refund_policy'

const valueOf = (name: string) => `${name}=${encodeURIComponent(attack)}`

describe('a parameter of an address is text', () => {
  for (const listed of pages)
    test(nameOf(listed.part, listed.route), async () => {
      const path = pathOf(listed)
      const joined = `${path}${path.includes('?') ? '&' : '?'}${names.split(' ').map(valueOf).join('&')}`
      for (const one of [joined, ...alone.split(' ').map(name => `${path.split('?')[0]}?${valueOf(name)}`)])
        await expectHarmless(await open(listed, one), one)
    })
})

describe('a part of an address is text', () => {
  for (const listed of routes.filter(({ route }) => route.path.includes(':')))
    test(nameOf(listed.part, listed.route), async () => {
      const base = {
        merchant: pathOf(listed).split('/').slice(0, 5).join('/'),
        operator: '/dashboard/operator',
      }
      const prefix =
        listed.part === 'merchant' || listed.part === 'operator' ? base[listed.part] : '/dashboard'
      const path = prefix + listed.route.path.replaceAll(/:\w+/g, encodeURIComponent(attack))
      const answer = await requests.send(listed.route, path, userOf(listed))
      await expectHarmless(answer, path)
      expect(answer.status, path).not.toBe(200)
    })
})

const fieldNames =
  'account active amount at attempt business code credential currency description email enabled form_id handover key label ' +
  'lang link mark medium merchant merchant_id mode name next note number outcome outlet overlap owner_email part passkey ' +
  'password person phone progress provider reason reference refund role secret seen sequence session sure total unchecked user ' +
  'version accent support_phone refund_policy ipn_url allowed_origins fee'

describe('a field of a form is text', () => {
  const ends = /sign-out|sessions|team\/(change|remove)|users\/(role|deactivate)/ // of the session that the other forms need
  for (const listed of forms.filter(({ route }) => !ends.test(route.path)))
    test(nameOf(listed.part, listed.route), async () => {
      const path = pathOf(listed)
      const filled = filledFields(listed.part, listed.route.path, rows, rows.merchant)
      const whole = Object.fromEntries(fieldNames.split(' ').map(name => [name, attack]))
      await expectHarmless(await requests.send(listed.route, path, userOf(listed), { fields: whole }), path)
      for (const name of Object.keys(filled)) {
        const fields = { ...filled, [name]: attack }
        await expectHarmless(
          await requests.send(listed.route, path, userOf(listed), { fields }),
          `${path} ${name}`,
        )
      }
    })
})
