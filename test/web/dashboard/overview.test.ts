import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { merchantOverview } from '../../../src/actions/overview/overview.ts'
import { overviewSpans } from '../../../src/core/overview/figures.ts'
import { addOutlet } from '../../../src/store/merchants/merchants.ts'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { seedPayment, type SeededPayment } from '../../support/dashboard/seedPayments.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'

let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
const zone = 'Africa/Accra'
const dayMs = 86_400_000

beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TIME_ZONE: zone })
  merchant = await gateway.addMerchant()
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
})
afterAll(() => gateway.stop())

const seed = (changed: Omit<SeededPayment, 'merchant_id'>) =>
  seedPayment(gateway.db, { merchant_id: merchant.merchant_id, ...changed })

const page = (query = '') => owner.html(`/dashboard/m/${merchant.merchant_id}/live${query}`)

test('a merchant without payments is led to the first one', async () => {
  const html = await page()
  expect(html).toContain('No payments yet')
  expect(html).toContain(`/dashboard/m/${merchant.merchant_id}/live/take`)
  expect(html).toContain('href="/docs"')
})

test('the spans of a day, a week and a month, with the same time of the period before', () => {
  const now = new Date('2026-03-31T14:58:00Z')
  const lines = (['day', 'week', 'month'] as const).map(period => {
    const { present, before } = overviewSpans(period, 'Europe/Paris', now)
    return [present.slots.length, present.from, before.slots.length, before.from, before.sameTime].map(one =>
      one instanceof Date ? one.toISOString() : one,
    )
  })
  expect(lines).toEqual([
    [24, '2026-03-30T22:00:00.000Z', 24, '2026-03-23T23:00:00.000Z', '2026-03-24T15:58:00.000Z'],
    [7, '2026-03-24T23:00:00.000Z', 7, '2026-03-17T23:00:00.000Z', '2026-03-24T15:58:00.000Z'],
    [30, '2026-03-01T23:00:00.000Z', 30, '2026-01-30T23:00:00.000Z', '2026-03-01T15:58:00.000Z'],
  ])
  // The clocks went forward on the 29th: that day has 23 hours.
  expect(
    overviewSpans('day', 'Europe/Paris', new Date('2026-03-29T21:00:00Z')).present.slots.map(at =>
      at.getTime(),
    ),
  ).toHaveLength(23)
})

test('the figures are those of the database, with the same weekday beside them', async () => {
  const now = new Date()
  const start = new Date(Math.floor(now.getTime() / dayMs) * dayMs) // Accra is at UTC
  const early = new Date(start.getTime() + Math.min(1000, (now.getTime() - start.getTime()) / 2))
  const weekAgo = new Date(early.getTime() - 7 * dayMs)
  await addOutlet(gateway.db, {
    merchant_id: merchant.merchant_id,
    code: 'osu',
    name: 'Osu <b>',
    created_at: now,
  })
  await seed({ at: early, total: 4000n, outlet: 'osu', paidAfterMs: 20_000 })
  await seed({ at: early, total: 2000n, method: 'card', paidAfterMs: 40_000 })
  await seed({ at: early, total: 700n, currency: 'XOF', method: 'card', paidAfterMs: 30_000 })
  await seed({ at: early, status: 'failed', reason: 'Not enough money in the account.', invoice_id: '<i>&' })
  await seed({ at: early, status: 'cancelled', reason: 'The customer cancelled.', method: null })
  await seed({ at: early, status: 'awaiting_payment', method: null })
  await seed({ at: new Date(start.getTime() - 1), total: 99_900n }) // yesterday's last millisecond
  await seed({ at: weekAgo, total: 5000n, paidAfterMs: 60_000 })
  await seed({ at: weekAgo, status: 'failed', reason: 'Something that only this provider says.' })
  await seed({ at: new Date(start.getTime() - 6 * dayMs - 1), total: 1_000_000n }) // later on that weekday
  await seed({ at: early, total: 55_500n, mode: 'test' })

  const scope = { merchant_id: merchant.merchant_id, mode: 'live' as const }
  const overview = await merchantOverview(gateway.db, scope, 'day', zone, now)
  expect(overview?.figures.ends).toMatchObject({ paid: 3, failed: 1, left: 1, waiting: 1 })
  expect(overview?.figures.paid).toEqual(
    new Map([
      ['GHS', 6000n],
      ['XOF', 700n],
    ]),
  )
  expect(overview?.comparedWith.ends).toMatchObject({ paid: 1, failed: 1, left: 0, waiting: 0 })
  expect(overview?.figuresBefore.paid.get('GHS')).toBe(1_005_000n)
  expect([overview?.sample.seconds, overview?.sampleBefore.seconds]).toEqual([30, 60])
  expect(overview?.figures.byOutlet.map(({ name, paid }) => [name, paid])).toContainEqual(['osu', 1])

  const html = await page()
  for (const text of [
    'GHS 60.00', // paid
    '20 %</b>', // more than a week ago
    '60.0 %', // success
    '3 of 5',
    '30 s faster',
    'Why 2 were not paid',
    'Not enough money in the wallet',
    'Osu &lt;b&gt;',
    '&lt;i&gt;&amp;',
    'Show as table',
  ])
    expect(html).toContain(text)
  expect(html).not.toContain('Osu <b>')
  expect(html).not.toContain('style=')
  expect(await page('?currency=XOF')).toContain('XOF 700')

  const [sum] = await gateway.db.rows<{ sum: string }>(sql`
    select sum(total)::text as sum from payments where merchant_id = ${merchant.merchant_id} and mode = 'live'
      and status = 'paid' and currency = 'GHS' and created_at >= ${new Date(start.getTime() - 6 * dayMs)}`)
  const week = await merchantOverview(gateway.db, scope, 'week', zone, now)
  expect(String(week?.figures.paid.get('GHS'))).toBe(sum?.sum)
  expect(week?.figures.paidBySlot('GHS').reduce((all, one) => all + one, 0n)).toBe(BigInt(sum?.sum ?? 0))
})

test('what needs attention: each with a cure and a link', async () => {
  const { merchant_id } = merchant
  const now = new Date()
  const at = new Date(now.getTime() - 60_000)
  const one = await seed({ at })
  await gateway.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, retry, parked,
      next_try_at)
    values (${merchant_id}, ${one.tx_reference}, 1, 'live', 'https://shop.akua.example/ipn', 'lane', 'post', ${at}, ${at},
      true, true, ${now})`)
  await gateway.db.rows(sql`
    insert into disputes (merchant_id, attempt_id, dispute_id, tx_reference, state, amount, currency, due_at, opened_at)
    values (${merchant_id}, ${one.attempt_id}, 'D-1', ${one.tx_reference}, 'open', 6000, 'GHS',
      ${new Date(now.getTime() + dayMs)}, ${now})`)
  await gateway.db.rows(sql`
    update ipn_secrets set expires_at = ${new Date(now.getTime() + 3 * dayMs)}
    where merchant_id = ${merchant_id} and mode = 'live'`)
  const html = await page()
  for (const text of [
    'shop.akua.example does not accept our notifications.',
    'A signing secret that you replaced ends on',
    'Open disputes: 1.',
    `/live/money/disputes"`,
    'GHS 60.00, answer by',
  ])
    expect(html).toContain(text)
  const accountant = await signedIn(gateway, { member: { merchant_id, role: 'accountant' } })
  expect(await accountant.html(`/dashboard/m/${merchant_id}/live`)).not.toContain('See failures')
  const french = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, lang: 'fr' })
  expect(await french.html(`/dashboard/m/${merchant_id}/live`)).toContain('Litiges ouverts\u00a0: 1.')
})

test('the page is small, and only for its roles', async () => {
  const { merchant_id } = merchant
  const answer = await fetch(`${gateway.url}/dashboard/m/${merchant_id}/live?period=month`, {
    headers: { cookie: owner.cookie },
  })
  expect(gzipSync(await answer.text()).length).toBeLessThan(30_000)
  const cashier = await signedIn(gateway, { member: { merchant_id, role: 'cashier' } })
  expect((await cashier.get(`/dashboard/m/${merchant_id}/live`)).status).toBe(403)
})
