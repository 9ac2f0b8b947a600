import { afterAll, beforeAll, expect, test } from 'vitest'
import { audited } from '../../../src/actions/access/audit.ts'
import { sealAuditLog, verifyAuditLog } from '../../../src/actions/access/auditSeal.ts'
import type { Actor } from '../../../src/core/access/audit.ts'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
let merchant: TestMerchant
let other: TestMerchant
let owner: DashboardClient
let admin: DashboardClient
let path: string
const operatorPath = '/dashboard/operator/audit'

beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  other = await gateway.addMerchant()
  owner = await signedIn(gateway, {
    name: 'Akua Owusu',
    member: { merchant_id: merchant.merchant_id, role: 'owner' },
  })
  admin = await signedIn(gateway, { name: 'Yaw Boateng', operator: 'admin' })
  path = `/dashboard/m/${merchant.merchant_id}/live/settings/audit`
  const [first, second] = [userActor(owner, '203.0.113.7'), userActor(admin, '198.51.100.9')]
  await record(first, merchant, 'settings.change', { expiry_minutes: '30' })
  await record(second, merchant, 'logo.remove', null)
  await record(second, other, 'settings.change', { accent: '#0b6b4f' })
  await record({ kind: 'command', id: '=cmd|calc', address: 'host' }, other, 'merchant.deactivate', {
    note: '<b>"x"</b>',
  })
})
afterAll(() => gateway.stop())

const userActor = ({ user_id }: DashboardClient, address: string): Actor => ({
  kind: 'user',
  id: user_id,
  address,
})

const record = (
  actor: Actor,
  { merchant_id }: TestMerchant,
  action: string,
  after: Record<string, unknown> | null,
  at = new Date(),
) =>
  audited(gateway.db, actor, at, (_, add) =>
    add({ merchant_id, action, subject: merchant_id, before: after && { old: '1' }, after }),
  )

const rowsIn = (html: string) => (html.match(/<td class="num nowrap">/g) ?? []).length

test("a merchant's log has its own entries, in sentences, with before and after", async () => {
  const html = await owner.html(path)
  expect(rowsIn(html)).toBe(2)
  expect(html).toContain('Akua Owusu changed the settings of Ama Shop')
  expect(html).toContain('Yaw Boateng removed the logo of Ama Shop')
  expect(html).toContain('<code>expiry_minutes</code>')
  expect(html).toContain('203.0.113.7')
  expect(html).not.toContain('198.51.100.9') // the address of an operator
  expect(html).not.toContain(other.merchant_id)
  // Another merchant in the address changes nothing.
  expect(rowsIn(await owner.html(`${path}?merchant=${other.merchant_id}`))).toBe(2)
})

test('the sentences are in French, too', async () => {
  const member = { merchant_id: merchant.merchant_id, role: 'owner' } as const
  const french = await signedIn(gateway, { member, lang: 'fr' })
  expect(await french.html(path)).toContain('a modifié les paramètres de Ama Shop')
})

for (const [what, query, count] of [
  ['an action', 'action=logo.remove', 1],
  ['a name', 'actor=Akua+Owusu', 1],
  ['an account of the operating system', `actor=${encodeURIComponent('=cmd|calc')}`, 1],
  ['a merchant', 'merchant=OTHER', 2],
  ['a subject', 'subject=OTHER&action=merchant.deactivate', 1],
  ['a day', 'from=2020-01-01&to=2020-01-02', 0],
  ['an impossible day', 'from=2020-13-77', 4],
  ['a NUL, which counts as nothing', 'actor=%00&behind=%00', 4],
  ['markup', 'actor=%22%3E%3Cscript%3Ealert(1)%3C/script%3E', 0],
] as const)
  test(`the operator searches by ${what}`, async () => {
    const html = await admin.html(`${operatorPath}?${query.replace('OTHER', other.merchant_id)}`)
    expect(rowsIn(html)).toBe(count)
    expect(html).not.toContain('<script>alert')
  })

test('older entries are on further pages', async () => {
  const actor = userActor(owner, '203.0.113.7')
  for (let n = 0; n < 120; n++) await record(actor, other, 'outlet.add', { n })
  let next: string | undefined = `${operatorPath}?action=outlet.add`
  const counts: number[] = []
  while (next) {
    const html: string = await admin.html(next)
    counts.push(rowsIn(html))
    next = /href="([^"]*behind=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(counts).toEqual([50, 50, 20])
})

test('the export has all entries of the search, and no formula', async () => {
  const answer = await admin.get(`${operatorPath}/export?action=outlet.add`)
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="audit-all-[\d-]+\.csv"$/)
  expect((await answer.text()).trimEnd().split('\r\n')).toHaveLength(121)
  const text = await (await admin.get(`${operatorPath}/export?action=merchant.deactivate`)).text()
  expect(text).toContain(`,command,'=cmd|calc,`)
  expect(text).toContain(`"{""note"":""<b>\\""x\\""</b>""}"`)
  const own = await (await owner.get(`${path}/export?merchant=${other.merchant_id}`)).text()
  expect(own).not.toContain(other.merchant_id)
  expect(own.trimEnd().split('\r\n')).toHaveLength(3)
})

test('neither the page nor the export of a merchant says from where the operator acted', async () => {
  const actors = [
    userActor(admin, '198.51.100.9'),
    { kind: 'command', id: 'ops', address: 'gateway-1.internal' },
    { kind: 'token', id: 'support', address: '198.51.100.77' },
  ] as const
  const shop = await gateway.addMerchant()
  for (const actor of actors) await record(actor, shop, 'receipt.send', null)
  const user = await signedIn(gateway, { member: { merchant_id: shop.merchant_id, role: 'owner' } })
  const log = `/dashboard/m/${shop.merchant_id}/live/settings/audit`
  for (const where of [log, `${log}/export`]) {
    const seen = await (await user.get(where)).text()
    expect(seen.match(/the operator/g)?.length).toBeGreaterThanOrEqual(actors.length)
    for (const { address } of actors) expect(seen).not.toContain(address)
    const all = await (await admin.get(where)).text()
    for (const { address } of actors) expect(all).toContain(address)
  }
})

test('one verification runs at a time on a node, with a deadline for each batch', async () => {
  let opened = 0
  await verifyAuditLog(() => {
    opened++
    return gateway.db
  })
  expect(opened).toBeGreaterThan(0)
  const both: Promise<Response>[] = []
  await gateway.db.transaction(async tx => {
    await tx.rows(sql`lock table ledger_seals in access exclusive mode`)
    both.push(owner.submit('/dashboard/account', `${path}/verify`))
    both.push(admin.submit('/dashboard/account', `${operatorPath}/verify`))
    const first = await Promise.race(both)
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '5'])
  })
  expect(new Set((await Promise.all(both)).map(({ status }) => status))).toEqual(new Set([200, 429]))
  expect((await owner.submit('/dashboard/account', `${path}/verify`)).status).toBe(200)
})

const verify = async (who: DashboardClient, page: string) => (await who.submit(page, `${page}/verify`)).text()

test('the log is verified, and a changed entry is named', async () => {
  expect(await verify(owner, path)).toContain('Nothing is sealed yet')
  await sealAuditLog(gateway.db, new Date(Date.now() + 3 * 3_600_000))
  expect(await verify(admin, operatorPath)).toContain('The log is intact')
  expect(await admin.html(operatorPath)).toContain('are sealed: seal 1')
  expect(await verify(owner, path)).toMatch(
    /Verified up to \d{4}-[\d :-]+ UTC: 2 sealed entries of this merchant are as they were sealed\./,
  )
  const neighbour = await signedIn(gateway, { member: { merchant_id: other.merchant_id, role: 'owner' } })
  const theirs = `/dashboard/m/${other.merchant_id}/live/settings/audit`
  await gateway.db.rows(sql`alter table audit_entries disable trigger audit_entries_append_only`)
  const { entry_id } = (await gateway.db.one<{ entry_id: string }>(
    sql`select entry_id from audit_entries where action = 'logo.remove'`,
  )) ?? { entry_id: '' }
  await gateway.db.rows(sql`update audit_entries set subject = 'x' where entry_id = ${entry_id}`)
  for (const [who, page] of [
    [admin, operatorPath],
    [owner, path],
  ] as const) {
    const html = await verify(who, page)
    expect(html).toContain('The log does not fit')
    expect(html).toContain(`entry ${entry_id}: this entry was changed`)
  }
  const html = await verify(neighbour, theirs)
  expect(html).toContain('The log does not fit at seal 1, in an entry that is not of this merchant.')
  expect(html).not.toContain(entry_id)
})

for (const [role, own, whole] of [
  ['accountant', 403, 404],
  ['developer', 403, 404],
  ['cashier', 403, 404],
] as const)
  test(`a user with the role ${role} sees no log`, async () => {
    const user = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role } })
    expect([
      (await user.get(path)).status,
      (await user.get(`${path}/export`)).status,
      (await user.get(operatorPath)).status,
      (await user.get(`${operatorPath}/export`)).status,
      (await user.submit('/dashboard/account', `${operatorPath}/verify`)).status,
    ]).toEqual([own, own, whole, whole, whole])
  })

test('support and finance see no log, and read_only sees all of it', async () => {
  for (const [operator, status] of [
    ['support', 403],
    ['finance', 403],
    ['read_only', 200],
  ] as const) {
    const user = await signedIn(gateway, { operator })
    expect((await user.get(operatorPath)).status).toBe(status)
    expect((await user.get(`${operatorPath}/export`)).status).toBe(status)
  }
})
