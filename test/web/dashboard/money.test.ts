import { afterAll, beforeAll, expect, test } from 'vitest'
import { merchantClosing, statementPage } from '../../../src/actions/money/merchantMoney.ts'
import { sumClosing } from '../../../src/actions/ledger/closing.ts'
import { balancesAt } from '../../../src/actions/ledger/balances.ts'
import { dayStart, daysOf } from '../../../src/web/dashboard/money/moneyPeriod.ts'
import { reference } from '../../../src/core/payment/reference.ts'
import { newRefundReference } from '../../../src/runtime/ids.ts'
import { sql } from '../../../src/store/db.ts'
import { addApproval } from '../../../src/store/refunds/approvals.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { seedPayment, type SeededPayment } from '../../support/dashboard/seedPayments.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { random } from '../../support/random.ts'

let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let accountant: DashboardClient
const zone = 'Africa/Lagos' // an hour ahead of UTC
const hourMs = 3_600_000

beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TIME_ZONE: zone })
  merchant = await gateway.addMerchant()
  const { merchant_id } = merchant
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, name: 'Akua Owusu' })
  accountant = await signedIn(gateway, { member: { merchant_id, role: 'accountant' }, name: 'Kofi Mensah' })
})
afterAll(() => gateway.stop())

const base = () => `/dashboard/m/${merchant.merchant_id}/live`
const scope = () => ({ merchant_id: merchant.merchant_id, mode: 'live' as const })
const seed = (changed: Omit<SeededPayment, 'merchant_id'>) =>
  seedPayment(gateway.db, { merchant_id: merchant.merchant_id, ...changed })

test('a merchant without money sees what each page will show', async () => {
  for (const [path, text] of [
    ['', 'No money has moved yet.'],
    ['/statement', 'Nothing was booked in this period.'],
    ['/closing', 'Nothing was paid on this day.'],
    ['/refunds', 'There are no refunds here.'],
    ['/disputes', 'There are none.'],
  ])
    expect(await owner.html(`${base()}/money${path}`)).toContain(text)
})

test('money counts on the day when it was paid, in the time zone of the installation', async () => {
  const midnight = new Date('2026-05-03T23:00:00Z') // in Lagos the 4th begins
  await seed({ at: new Date(midnight.getTime() - 30_001), total: 1000n, fee: 15n, outlet: '=osu' })
  await seed({ at: new Date(midnight.getTime() - 30_000), total: 2000n, method: 'card' })
  await seed({ at: new Date(midnight.getTime() - 60_000), total: 4000n, paidAfterMs: hourMs })
  await seed({ at: midnight, total: 500n, currency: 'XOF' })
  const day = async (name: string) => {
    const from = dayStart(name, zone) as Date
    const rows = await merchantClosing(gateway.db, scope(), {
      from,
      until: new Date(from.getTime() + 24 * hourMs),
    })
    return rows.map(row => [
      row.outlet,
      row.payment_method,
      row.currency,
      row.payments,
      row.gross,
      row.fees,
      row.net,
    ])
  }
  expect(dayStart('2026-05-04', zone)).toEqual(midnight)
  expect(await day('2026-05-03')).toEqual([['=osu', 'mtn_mobile_money', 'GHS', 1, 1000n, -15n, 985n]])
  expect(await day('2026-05-04')).toEqual([
    [null, 'card', 'GHS', 1, 2000n, 0n, 2000n],
    [null, 'mtn_mobile_money', 'GHS', 1, 4000n, 0n, 4000n],
    [null, 'mtn_mobile_money', 'XOF', 1, 500n, 0n, 500n],
  ])
  const html = await owner.html(`${base()}/money/closing?day=2026-05-04`)
  for (const text of ['Closing of 4 May 2026', 'GHS 60.00', 'XOF 500', 'Total GHS'])
    expect(html).toContain(text)
  expect((await owner.get(`${base()}/money/closing?day=2026-02-30`)).status).toBe(422)
  expect((await owner.get(`${base()}/money/statement?from=2026-05-04&to=2026-05-03`)).status).toBe(422)
})

test('the sums of the closings are the change of the balance, however money moved', async () => {
  const other = await gateway.addMerchant()
  const own = { merchant_id: other.merchant_id, mode: 'live' as const }
  const begin = Date.parse('2026-06-01T00:00:00Z')
  const kinds = [
    'merchant_fee',
    'gateway_fee',
    'refund_requested',
    'reversal',
    'dispute_opened',
    'own_account',
  ]
  for (let at = 0; at < 40; at++) {
    const booked = new Date(begin + Math.floor(random() * 4 * 24 * hourMs))
    const currency = random() < 0.3 ? 'XOF' : 'GHS'
    const paid = await seedPayment(gateway.db, {
      ...own,
      at: booked,
      currency,
      total: BigInt(100 + at),
      outlet: random() < 0.5 ? 'osu' : null,
      fee: random() < 0.5 ? 7n : 0n,
    })
    const kind = kinds[Math.floor(random() * kinds.length)] as string
    await gateway.db.rows(sql`
      insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
        tx_reference, happened_at, created_at)
      values (${own.merchant_id}, ${`${paid.tx_reference}/x`}, 'live', ${currency}, 'merchant', 'suspense',
        ${BigInt(1 + at)}, ${kind}, ${paid.tx_reference}, ${booked}, ${booked})`)
  }
  const period = { from: dayStart('2026-05-31', zone) as Date, until: dayStart('2026-06-07', zone) as Date }
  const sums = new Map<string, bigint>()
  for (const day of daysOf(period, zone))
    for (const row of await merchantClosing(gateway.db, own, day)) {
      expect(row.gross + row.fees + row.refunds + row.disputes + row.other).toBe(row.net)
      sums.set(row.currency, (sums.get(row.currency) ?? 0n) + row.net)
    }
  const balances = (await balancesAt(gateway.db, own.merchant_id, period.until)).filter(
    one => one.account === 'merchant' && one.mode === 'live',
  )
  expect(sums).toEqual(new Map(balances.map(({ currency, balance }) => [currency, balance])))

  // Stored sums of days and hours change no closing, of whole days or of a part of one.
  const parts = [
    period,
    ...daysOf(period, zone),
    { from: new Date(begin + 90 * 60_000), until: new Date(begin + 60 * hourMs + 1) },
  ]
  const closings = () => Promise.all(parts.map(part => merchantClosing(gateway.db, own, part)))
  const unsummed = await closings()
  const now = new Date(begin + 2.5 * 24 * hourMs) // in the middle of a day
  for (const at of [now, now, new Date(begin + 9 * 24 * hourMs)]) {
    let hasMore = true
    while (hasMore) hasMore = await sumClosing(gateway.db, own, zone, at, { day: 2, hour: 1 })
    expect(await closings()).toEqual(unsummed)
  }
  const summed = await gateway.db.rows<{ hours: number }>(sql`
    select distinct extract(epoch from until_at - from_at)::integer / 3600 as hours from closing_totals
    where merchant_id = ${own.merchant_id}`)
  expect(summed).toEqual([{ hours: 24 }])

  // The pages of the statement end with the same balance, and no line is missing or twice.
  const seen: string[] = []
  let after: string | undefined
  const closing = new Map<string, bigint>()
  do {
    const page = await statementPage(gateway.db, own, period, { after, limit: 7, zone })
    for (const [currency, sum] of closing) expect(page.opening.get(currency)).toBe(sum)
    const known = new Map(closing) // as an export passes it on from part to part
    expect((await statementPage(gateway.db, own, period, { after, limit: 7, zone, known })).lines).toEqual(
      page.lines,
    )
    for (const line of page.lines) closing.set(line.currency, line.balance)
    seen.push(...page.lines.map(line => line.transfer_id))
    after = page.next
  } while (after !== undefined)
  expect(new Set(seen).size).toBe(seen.length)
  expect(closing).toEqual(sums)
})

test('CSV: no cell is a formula, the export is recorded, and only its roles get it', async () => {
  const csv = await (await owner.get(`${base()}/money/closing.csv?from=2026-05-03&to=2026-05-04`)).text()
  expect(csv.replace('\ufeff', '').split('\r\n')).toEqual([
    'day,outlet,outlet_name,payment_method,currency,payments,gross,fees,refunds,disputes,other,net',
    "2026-05-03,'=osu,,MTN MoMo,GHS,1,10.00,-0.15,0.00,0.00,0.00,9.85",
    '2026-05-04,,,Card,GHS,1,20.00,0.00,0.00,0.00,0.00,20.00',
    '2026-05-04,,,MTN MoMo,GHS,1,40.00,0.00,0.00,0.00,0.00,40.00',
    '2026-05-04,,,MTN MoMo,XOF,1,500,0,0,0,0,500',
    '',
  ])
  await seed({ at: new Date('2026-05-05T10:00:00Z'), invoice_id: '@SUM(1)' })
  const statement = await (
    await owner.get(`${base()}/money/statement.csv?from=2026-05-03&to=2026-05-05`)
  ).text()
  expect(statement).toContain(",'@SUM(1),")
  expect(statement.trim().split('\r\n')).toHaveLength(7)
  const recorded = await gateway.db.rows<{ after: Record<string, unknown> }>(
    sql`select after from audit_entries where action = 'money.export' order by entry_id`,
  )
  expect(recorded.map(({ after }) => after.what)).toEqual(['closing', 'statement'])
  const developer = await signedIn(gateway, {
    member: { merchant_id: merchant.merchant_id, role: 'developer' },
  })
  for (const path of [
    '',
    '/statement',
    '/closing',
    '/refunds',
    '/disputes',
    '/statement.csv',
    '/closing.csv',
  ])
    expect((await developer.get(`${base()}/money${path}`)).status).toBe(403)
})

// A refund that waits, which one of the two users asked for.
async function waitingApproval(requester_id: string, invoice_id: string) {
  const paid = await seed({ at: new Date(), invoice_id })
  const now = new Date()
  const refund_reference = newRefundReference(merchant.merchant_id)
  await addApproval(gateway.db, {
    merchant_id: merchant.merchant_id,
    refund_reference,
    mode: 'live',
    tx_reference: paid.tx_reference,
    invoice_id,
    attempt_number: 1,
    source: 'payment',
    amount: 2500n,
    currency: 'GHS',
    reason: '<b>Broken</b>',
    requested_by: 'operator',
    requester_id,
    state: 'waiting',
    decider_id: null,
    decision_reason: '',
    created_at: now,
    expires_at: new Date(now.getTime() + 24 * hourMs),
    decided_at: null,
  })
  return refund_reference
}

const refundsOf = (refund_reference: string) =>
  gateway.db.rows<{ amount: bigint; operator: string }>(
    sql`select * from refunds where refund_reference = ${refund_reference}`,
  )

test('a refund above the limit is approved by another person, once', async () => {
  const refund = await waitingApproval(accountant.user_id, 'WAITS')
  const page = `${base()}/money/refunds`
  const own = await accountant.html(page)
  expect(own).toContain('You asked for it, so another person approves it.')
  expect(own).not.toContain('Approve GHS 25.00')
  const refused = await accountant.submit(page, `${page}/approve`, { refund })
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining('another person approves'),
  ])
  expect(await refundsOf(refund)).toEqual([])

  const html = await owner.html(page)
  for (const text of ['Approve GHS 25.00', 'Kofi Mensah', '&lt;b&gt;Broken&lt;/b&gt;'])
    expect(html).toContain(text)
  const answers = await Promise.all([1, 2].map(() => owner.submit(page, `${page}/approve`, { refund })))
  expect(answers.map(answer => answer.headers.get('location'))).toEqual(
    Array(2).fill(`${page}?done=approved`),
  )
  expect(await refundsOf(refund)).toMatchObject([{ amount: 2500n, operator: 'Kofi Mensah' }])
})

test('rejecting needs a reason, and what was typed stays', async () => {
  const refund = await waitingApproval(accountant.user_id, 'NOT')
  const page = `${base()}/money/refunds`
  const long = 'x'.repeat(201)
  const faulty = await owner.submit(page, `${page}/reject`, { refund, reason: long })
  expect([faulty.status, await faulty.text()]).toEqual([422, expect.stringContaining(`value="${long}"`)])
  const done = await owner.submit(page, `${page}/reject`, { refund, reason: 'Not broken.' })
  expect(done.headers.get('location')).toBe(`${page}?done=rejected`)
  expect(await owner.html(page)).toContain('Not broken.')
  expect(await refundsOf(refund)).toEqual([])
})

test('approving needs the password or the second factor of the last minutes', async () => {
  const refund = await waitingApproval(accountant.user_id, 'LATE')
  await gateway.db.rows(
    sql`update user_sessions set confirmed_at = now() - interval '1 hour' where user_id = ${owner.user_id}`,
  )
  const page = `${base()}/money/refunds`
  const answer = await owner.submit(page, `${page}/approve`, { refund })
  expect(answer.headers.get('location')).toBe(`/dashboard/confirm?next=${encodeURIComponent(page)}`)
  expect(await refundsOf(refund)).toEqual([])
})

test('the list of refunds: by state, in pages, with what needs a person explained', async () => {
  const at = new Date('2026-04-01T10:00:00Z')
  for (let count = 0; count < 52; count++)
    await gateway.db.rows(sql`
      insert into refunds (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_id, source, kind,
        provider_account, amount, currency, requested_by, state, created_at, updated_at)
      values (${merchant.merchant_id}, ${newRefundReference(merchant.merchant_id)}, 'live', ${reference(at.getTime(), count)},
        ${`R-${count}`}, 'a', 'payment', 'manual', 'sandbox', 100, 'GHS', 'merchant',
        ${count === 0 ? 'needs_action' : 'succeeded'}, ${at}, ${at})`)
  const page = `${base()}/money/refunds`
  const some = await owner.html(`${page}?state=needs_action`)
  expect(some).toContain('R-0')
  expect(some).toContain('Needs action: the provider cannot make this refund by itself.')
  const first = await owner.html(`${page}?state=succeeded`)
  const next = /href="([^"]+before=[^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') as string
  const second = await owner.html(next)
  const invoices = [...`${first}${second}`.matchAll(/>(R-\d+)</g)].map(([, name]) => name)
  expect(new Set(invoices).size).toBe(51)
  expect(invoices).toHaveLength(51)
})
