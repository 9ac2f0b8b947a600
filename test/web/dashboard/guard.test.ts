import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
let merchant: TestMerchant
let admin: DashboardClient
let cashier: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  admin = await signedIn(gateway, { operator: 'admin' })
  cashier = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'cashier' } })
})
afterAll(() => gateway.stop())

const locationOf = async (answer: Promise<Response>) => (await answer).headers.get('location')

test('without a session the sign-in page is next, and then the page that was asked for', async () => {
  const answer = await fetch(`${gateway.url}/dashboard?x=1`, { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    '/dashboard/sign-in?next=%2Fdashboard%3Fx%3D1',
  ])
})

test('the first place depends on the role', async () => {
  expect(await locationOf(admin.get('/dashboard'))).toBe('/dashboard/operator')
  expect(await locationOf(cashier.get('/dashboard'))).toBe(`/dashboard/m/${merchant.merchant_id}/live/take`)
})

test('an ended, idle or foreign session does not count', async () => {
  const ended = await signedIn(gateway, { operator: 'admin' })
  for (const change of [
    `ends_at = now() - interval '1 second'`,
    `seen_at = now() - interval '61 minutes', ends_at = now() + interval '1 hour'`,
  ]) {
    await gateway.db.rows({
      text: `update user_sessions set ${change} where user_id = $1`,
      values: [ended.user_id],
    } as never)
    expect(await locationOf(ended.get('/dashboard'))).toContain('/dashboard/sign-in')
  }
})

for (const path of ['test/nothing', 'live/payments/x/nothing', 'other', 'testing', 'xlive', 'test/test'])
  test(`no page is at ${path}`, async () => {
    const answer = await admin.get(`/dashboard/m/${merchant.merchant_id}/${path}`)
    expect(answer.status).toBe(404)
  })
