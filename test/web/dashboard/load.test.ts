import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let isOverloaded = false
let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
beforeAll(async () => {
  gateway = await testGateway({}, { isOverloaded: () => isOverloaded })
  merchant = await gateway.addMerchant()
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
})
afterAll(() => gateway.stop())

const pay = () => post(gateway.url, signedRequest(merchant.test))

test('a flood of slow pages of the dashboard and its sign-in refuses no payment', async () => {
  let answers: Promise<Response[]> | undefined
  const payments: number[] = []
  await gateway.db.transaction(async tx => {
    await tx.rows(sql`lock table memberships, users in access exclusive mode`)
    const pages = Array.from({ length: 40 }, (_, n) =>
      n % 2
        ? owner.get('/dashboard/account')
        : fetch(`${gateway.url}/dashboard/sign-in`, { redirect: 'manual' }),
    )
    answers = Promise.all(pages)
    for (let n = 0; n < 8; n++) payments.push((await pay()).http)
  })
  expect(payments).toEqual(Array(8).fill(200))
  const statuses = (await answers)?.map(({ status }) => status) ?? []
  expect(statuses.filter(status => ![200, 303, 503].includes(status))).toEqual([])
  expect((await owner.get('/dashboard/account')).status).toBe(200)
})

test('more pages at once than the dashboard takes are refused, and payments go on', async () => {
  let answers: Promise<Response[]> | undefined
  let paid = 0
  await gateway.db.transaction(async tx => {
    await tx.rows(sql`lock table memberships in access exclusive mode`)
    answers = Promise.all(Array.from({ length: 150 }, () => owner.get('/dashboard/account')))
    paid = (await pay()).http
  })
  expect(paid).toBe(200)
  const refused = (await answers)?.filter(({ status }) => status === 503) ?? []
  expect(refused.length).toBeGreaterThanOrEqual(50)
  expect(refused[0]?.headers.get('retry-after')).toBe('5')
})

test('under overload the dashboard is refused first, and requests and checkouts are served', async () => {
  const { body } = await pay()
  isOverloaded = true
  try {
    for (const path of ['/dashboard', '/dashboard/account', '/dashboard/sign-in']) {
      const answer = await owner.get(path)
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5'])
    }
    expect((await send(body.checkout_url)).http).toBe(200)
    expect((await pay()).http).toBe(200)
  } finally {
    isOverloaded = false
  }
  expect((await owner.get('/dashboard/account')).status).toBe(200)
})
