import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRetention } from '../../../src/actions/redaction/retention.ts'
import { newReference, newToken, newUserId } from '../../../src/runtime/ids.ts'
import { sql } from '../../../src/store/db.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { aPayment } from '../../support/payments/rows.ts'

let gateway: TestGateway
let merchant: TestMerchant
let admin: DashboardClient
const path = '/dashboard/operator/people'

beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  admin = await signedIn(gateway, { operator: 'admin' })
})
afterAll(() => gateway.stop())

const ended = new Date(Date.now() - 86_400_000)

async function person(number: string, email: string | null = null) {
  const { merchant_id } = merchant
  const payment = aPayment({
    merchant_id,
    tx_reference: newReference(ended),
    tx_token: newToken(merchant_id, ended),
    invoice_id: newUserId(),
    number,
    email,
    status: 'paid',
    created_at: ended,
    updated_at: ended,
    expires_at: ended,
  })
  await storePayments(gateway.db, [payment])
  return payment
}

const stored = async (tx_reference: string) =>
  gateway.db.one<{ number: string | null; status: string }>(
    sql`select number, status from payments where tx_reference = ${tx_reference}`,
  )
const entries = async () =>
  (
    await gateway.db.rows<{ action: string; subject: string; after: { payments: number } | null }>(
      sql`select action, subject, after from audit_entries where action like 'person.%' order by entry_id`,
    )
  ).map(({ action, subject, after }) => [action, subject, after?.payments ?? null])

test('a person is found, exported and erased, and the audit log names nobody', async () => {
  const payment = await person('+233241234567', 'ama@mail.example')
  const page = await (await admin.submit(path, `${path}/find`, { person: '024 123 4567' })).text()
  expect(page).toContain(payment.tx_reference)
  const exported = await admin.submit(path, `${path}/export`, { person: '+233241234567' })
  expect(exported.headers.get('content-disposition')).toContain('attachment; filename="person-')
  expect(((await exported.json()) as { payments: { email: string }[] }).payments[0]?.email).toBe(
    'ama@mail.example',
  )
  const unsure = await admin.submit(path, `${path}/erase`, { person: '+233241234567' })
  expect([unsure.status, await unsure.text()]).toEqual([422, expect.stringContaining('Tick the box first')])
  expect((await stored(payment.tx_reference))?.number).toBe('+233241234567')
  for (const count of [1, 0]) {
    const erased = await admin.submit(path, `${path}/erase`, { person: '+233241234567', sure: 'yes' })
    const text = await erased.text()
    expect(text).toContain(`${count} payments are erased so far.`)
    expect(text).toContain('Finished.')
  }
  expect(await stored(payment.tx_reference)).toEqual({ number: null, status: 'paid' })
  expect(await entries()).toEqual([
    ['person.find', 'phone', 1],
    ['person.export', 'phone', 1],
    ['person.find', 'phone', 1],
    ['person.erase', 'phone', null],
    ['person.erased', 'phone', 1],
    ['person.erase', 'phone', null],
    ['person.erased', 'phone', 0],
  ])
})

for (const [typed, status] of [
  ['', 422],
  ['Ama', 422],
  ['"><script>alert(1)</script>', 422],
  ["'; drop table payments --", 422],
  ['nobody@mail.example', 200],
] as const)
  test(`"${typed}" is answered ${status}`, async () => {
    const answer = await admin.submit(path, `${path}/find`, { person: typed })
    expect(answer.status).toBe(status)
    expect(await answer.text()).not.toContain('<script>alert')
  })

test('the pages need a confirmed session', async () => {
  const user = await signedIn(gateway, { operator: 'admin' })
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${user.user_id}`)
  expect((await user.get(path)).headers.get('location')).toContain('/dashboard/confirm')
})

test('an erasure that takes longer than a request goes on by its form, and a changed form begins again', async () => {
  const slow = await testGateway({}, { erasingMs: 0 })
  const { merchant_id } = await slow.addMerchant()
  const [number, tx_reference] = ['+233247654321', newReference(ended)]
  const token = newToken(merchant_id, ended)
  const times = { created_at: ended, updated_at: ended, expires_at: ended }
  const names = { merchant_id, tx_reference, tx_token: token, invoice_id: 'P-1' }
  await storePayments(slow.db, [aPayment({ ...names, ...times, number, email: null, status: 'paid' })])
  const user = await signedIn(slow, { operator: 'admin' })
  const erase = async (progress: string) => {
    const fields = { person: number, sure: 'yes', progress }
    const html = await (await user.submit(path, `${path}/erase`, fields)).text()
    return { html, next: /name="progress" value="([^"]+)"/.exec(html)?.[1] }
  }
  const first = await erase('')
  expect(first.html).toContain('Not finished: more payments are to be searched.')
  let forms = 0
  let { next = '', html } = first
  while (next && forms < 100) {
    ;({ next = '', html } = await erase(next))
    forms++
  }
  expect(html).toContain('Finished.')
  expect(forms).toBeGreaterThan(1)
  const erased = await slow.db.one<{ number: string | null }>(sql`select number from payments`)
  expect(erased?.number).toBeNull()
  const begun = async () =>
    (await slow.db.rows(sql`select from audit_entries where action = 'person.erase'`)).length
  expect(await begun()).toBe(1)
  const forged = `${first.next?.slice(0, -1)}${first.next?.endsWith('A') ? 'B' : 'A'}`
  await erase(forged)
  expect(await begun()).toBe(2)
  await slow.stop()
})

test('an erasure goes on after the confirmation has expired, and only that of this user and person', async () => {
  const slow = await testGateway({}, { erasingMs: 0 })
  try {
    await slow.addMerchant()
    const user = await signedIn(slow, { operator: 'admin' })
    const other = await signedIn(slow, { operator: 'admin' })
    const erase = (progress: string, who = user, number = '+233247654321') =>
      who.submit('/dashboard/account', `${path}/erase`, { person: number, sure: 'yes', progress })
    const first = await (await erase('')).text()
    const progress = /name="progress" value="([^"]+)"/.exec(first)?.[1] ?? ''
    await slow.db.rows(sql`update user_sessions set confirmed_at = null`)
    const next = await erase(progress)
    expect([next.status, await next.text()]).toEqual([200, expect.stringContaining('Not finished')])
    const begun = await slow.db.rows(sql`select from audit_entries where action = 'person.erase'`)
    expect(begun).toHaveLength(1)
    const refused = [
      erase(''),
      erase(`${progress}x`),
      erase(progress, other),
      erase(progress, user, '+233247654322'),
    ]
    for (const answer of await Promise.all(refused))
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        expect.stringContaining('/dashboard/confirm'),
      ])
    await slow.db.rows(sql`update users set operator_role = 'support' where user_id = ${user.user_id}`)
    expect((await erase(progress)).status).toBe(403)
  } finally {
    await slow.stop()
  }
})

test('support finds and does not erase; finance, read_only and owners see nothing', async () => {
  const payment = await person('+233201234567')
  const support = await signedIn(gateway, { operator: 'support' })
  const page = await (await support.submit(path, `${path}/find`, { person: '0201234567' })).text()
  expect(page).toContain(payment.tx_reference)
  expect(page).not.toContain('people/erase')
  const owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  const fields = { person: '0201234567', sure: 'yes' }
  expect((await support.submit(path, `${path}/erase`, fields)).status).toBe(403)
  for (const operator of ['finance', 'read_only'] as const) {
    const user = await signedIn(gateway, { operator })
    expect((await user.get(path)).status).toBe(403)
    for (const action of ['find', 'export', 'erase'])
      expect((await user.submit('/dashboard/account', `${path}/${action}`, fields)).status).toBe(403)
  }
  for (const action of ['find', 'export', 'erase'])
    expect((await owner.submit('/dashboard/account', `${path}/${action}`, fields)).status).toBe(404)
  expect((await stored(payment.tx_reference))?.number).toBe('+233201234567')
})

test('the page says what the redaction has to do', async () => {
  await person('+233240000099')
  const dayMs = 86_400_000
  const [before, after] = await Promise.all(
    [80, 100].map(days => readRetention(gateway.db, 90, new Date(Date.now() + days * dayMs))),
  )
  expect(before).toMatchObject({ days: 90, waiting: 0, next: expect.any(Date) })
  expect(after?.waiting).toBeGreaterThan(0)
  expect(await readRetention(gateway.db, undefined, new Date())).toBeUndefined()
  const keeping = await testGateway({ TOLLGATE_REDACT_DAYS: '90' })
  try {
    const operator = await signedIn(keeping, { operator: 'admin' })
    const page = await (await operator.get(path)).text()
    expect(page).toContain('removed by itself 90 days after a payment ended')
    expect(page).toContain('No payment waits for it.')
    expect(page).toContain('No further payment has ended. The nodes look every hour.')
  } finally {
    await keeping.stop()
  }
})
