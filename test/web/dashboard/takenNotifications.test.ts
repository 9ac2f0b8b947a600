import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { newTakenForm } from '../../../src/runtime/ids.ts'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { trigger } from '../../support/merchant/testTools.ts'
import { openReceiver } from '../../support/merchant/receiver.ts'

// A shop that fails when it has no order for a payment.
let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let receiver: Awaited<ReturnType<typeof openReceiver>>
beforeAll(async () => {
  receiver = await openReceiver(({ body }, response) => {
    response.statusCode = body.includes('tollgate:') ? 500 : 200
    response.end('ok')
  })
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  merchant = await gateway.addMerchant(`ipn_url=${receiver.url}/ipn`)
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
})

async function takeAndCancel() {
  const base = `/dashboard/m/${merchant.merchant_id}/test/take`
  const fields = { form_id: newTakenForm(), total: '5.00', currency: 'GHS' }
  const page = (await owner.submit(base, base, fields)).headers.get('location') ?? ''
  await owner.submit(page, `${page}/cancel`)
  return page.slice(page.lastIndexOf('/') + 1)
}

const deliveriesOf = (tx_reference: string) =>
  gateway.db.rows<{ lane: string }>(sql`
    select lane from deliveries where merchant_id = ${merchant.merchant_id} and tx_reference = ${tx_reference}`)

test('the endpoint is not notified of taken payments, unless the merchant opts in', async () => {
  const tx_reference = await takeAndCancel()
  const notifications = await gateway.db.rows(sql`
    select status from notifications where merchant_id = ${merchant.merchant_id} and tx_reference = ${tx_reference}`)
  expect(notifications).toEqual([{ status: 'cancelled' }]) // the feed has it
  expect(await deliveriesOf(tx_reference)).toEqual([])
})

test('a shop that fails on them still gets its own notifications at once', async () => {
  await setMerchant(gateway.db, merchant.merchant_id, ['ipn_taken_payments=on'])
  const taken: string[] = []
  for (let n = 0; n < 8; n++) taken.push(await takeAndCancel()) // more failures than a breaker allows
  const [delivery] = await deliveriesOf(taken[0] ?? '')
  expect(delivery?.lane).toMatch(/^test\/taken\//)
  const parked = async () =>
    (
      await gateway.db.rows(sql`
        select 1 from deliveries where merchant_id = ${merchant.merchant_id} and lane like 'test/taken/%' and parked`)
    ).length
  await expect.poll(parked, { timeout: 10_000 }).toBeGreaterThan(0) // the breaker of their lane is open
  const { body } = await trigger(gateway.url, merchant.test, { outcome: 'cancelled' })
  await expect.poll(() => receiver.of(body.tx_reference).length, { timeout: 10_000 }).toBe(1)
  const [own] = await gateway.db.rows(sql`
    select lane, tries from deliveries
    where merchant_id = ${merchant.merchant_id} and tx_reference = ${body.tx_reference}`)
  expect(own).toMatchObject({ lane: expect.stringMatching(/^test\/configured\//), tries: 1 })
})
