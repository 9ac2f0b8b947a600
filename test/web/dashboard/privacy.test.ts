import { afterAll, beforeAll, expect, test } from 'vitest'
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
    await gateway.db.rows<{ action: string; subject: string; after: { payments: number } }>(
      sql`select action, subject, after from audit_entries where action like 'person.%' order by entry_id`,
    )
  ).map(({ action, subject, after }) => [action, subject, after.payments])

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
    expect(await erased.text()).toContain(`${count} payments are erased so far.`)
  }
  expect(await stored(payment.tx_reference)).toEqual({ number: null, status: 'paid' })
  expect(await entries()).toEqual([
    ['person.find', 'phone', 1],
    ['person.export', 'phone', 1],
    ['person.find', 'phone', 1],
    ['person.erase', 'phone', 1],
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
