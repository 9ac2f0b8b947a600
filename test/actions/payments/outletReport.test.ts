import { afterAll, beforeAll, expect, test } from 'vitest'
import { outletReport, reportParts, sumPayments } from '../../../src/actions/payments/outletReport.ts'
import { changeOf, changeOne } from '../../../src/actions/payments/writeChanges.ts'
import { move, type Payment, type Status } from '../../../src/core/payment/payment.ts'
import { firstReferenceAt, timeOfReference } from '../../../src/core/payment/reference.ts'
import { sql } from '../../../src/store/db.ts'
import { reportByOutlet } from '../../../src/store/payments/reports.ts'
import {
  newPayment,
  openPaymentDatabase,
  type PaymentDatabase,
} from '../../support/payments/paymentDatabase.ts'
import { after, hours } from '../../support/payments/rows.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { pick, random } from '../../support/random.ts'

// A report by the sums of days and hours is that of all payments.
let lives: PaymentDatabase
let all: Payment[]
const start = new Date('2126-05-01T00:00:00Z')
const days = 6
const scope = () => ({ merchant_id: lives.merchant_id, mode: 'test' as const })

beforeAll(async () => {
  lives = await openPaymentDatabase()
  const times = Array.from({ length: 400 }, () => Math.floor(random() * days * 24 * 60) * 60_000).sort(
    (a, b) => a - b,
  )
  all = times.map(ms => ({
    ...newPayment(lives.merchant_id, after(ms, start), hours(1)),
    outlet: pick([null, 'ACC-1', 'KSI-2']),
    total: BigInt(1 + Math.floor(random() * 100_000)),
    currency: pick(['GHS', 'XOF'] as const),
  }))
  // For a while the clock was set back, so references are ahead of their payments.
  for (const payment of all.slice(100, 150)) payment.created_at = after(-hours(5), payment.created_at)
  await storePayments(lives.db, all)
})
afterAll(() => lives.close())

async function change(payment: Payment, status: Status, payment_method: string | null, at: Date) {
  await changeOne(lives.db, {}, payment, async (_, locked) => {
    const moved = move(locked, status, '', at) ?? { ...locked, updated_at: at }
    return { answer: undefined, change: changeOf(locked, { ...moved, payment_method }, []) }
  })
}

async function expectSame(from: Date, until: Date, outlet?: string) {
  const day = hours(24)
  const period = {
    from,
    until,
    firstReference: firstReferenceAt(from),
    endReference: firstReferenceAt(after(day, until)),
  }
  const whole = await reportByOutlet(lives.db, { ...scope(), outlet }, { summed: [], gaps: [period] })
  const { rows } = await outletReport(lives.db, { ...scope(), outlet, from, until })
  expect(rows).toEqual(whole)
  return whole
}
const everyReport = async () => {
  const end = after(hours(24 * days), start)
  expect((await expectSame(start, end)).length).toBeGreaterThan(2)
  await expectSame(start, end, 'ACC-1')
  await expectSame(after(hours(30), start), after(hours(95), start))
  await expectSame(after(hours(1), start), after(hours(2), start))
  const hour = after(hours(Math.floor(random() * days * 24)), start)
  await expectSame(hour, after(hours(0.4), hour))
  await expectSame(after(hours(0.4), hour), after(hours(1.7), hour))
}
const sumAll = async (zone: string, now: Date) => {
  let count = 0
  while (await sumPayments(lives.db, scope(), zone, now, { day: 1, hour: 1 })) count++
  return count
}
const countPeriods = async (hoursLong: number, since = start) => {
  const [row] = await lives.db.rows<{ count: bigint }>(sql`
    select count(*) from report_periods
    where extract(epoch from until_at - from_at) / 3600 = ${hoursLong} and from_at >= ${since}`)
  return Number(row?.count)
}

// A report of a part of an hour that is summed reads no payment of a later hour.
async function expectBounded(from: Date) {
  const until = after(hours(0.2), from)
  const { summed, gaps } = await reportParts(lives.db, scope(), { from, until })
  const [gap, ...others] = gaps
  expect([summed, others]).toEqual([[], []])
  const hour = after(hours(1), from)
  const inHour = all.filter(({ created_at }) => created_at >= after(-hours(0.2), from) && created_at < hour)
  const last =
    inHour
      .map(({ tx_reference }) => tx_reference)
      .toSorted()
      .at(-1) ?? firstReferenceAt(from)
  expect(timeOfReference(gap?.endReference ?? '').getTime()).toBeLessThanOrEqual(
    timeOfReference(last).getTime() + 1,
  )
}
const statuses: Status[] = ['paid', 'failed', 'cancelled', 'awaiting_payment']

test('before, between and after sums, late changes and another time zone', async () => {
  for (const payment of all)
    if (random() < 0.7)
      await change(payment, pick(statuses), pick(['card', 'mtn_mobile_money']), payment.created_at)
  await everyReport()
  expect(await sumAll('UTC', after(hours(24 * 3 + 3), start))).toBeGreaterThanOrEqual(3)
  await everyReport()
  await sumAll('UTC', after(hours(24 * 3 + 20), start))
  expect(await countPeriods(24)).toBe(3)
  expect(await countPeriods(1)).toBeGreaterThan(20) // the hours of days that are over stay
  const summedHours = await countPeriods(1, after(hours(24 * 3), start))
  expect(summedHours).toBeGreaterThan(9) // an hour without payments is not stored
  expect(summedHours).toBeLessThanOrEqual(18) // the last two hours are not settled
  await everyReport()
  await expectBounded(after(hours(12.2), start)) // of a day that is over
  await expectBounded(after(hours(24 * 3 + 12.2), start)) // of the present day
  for (const payment of all)
    if (random() < 0.2)
      await change(
        payment,
        pick(statuses),
        pick(['card', null]),
        after(hours(2 + random() * 98), payment.created_at), // an earlier change is in the sums
      )
  await everyReport()
  expect(await sumAll('Africa/Lagos', after(hours(24 * 9), start))).toBeGreaterThan(0)
  await everyReport()
  const [marks] = await lives.db.rows<{ count: bigint }>(sql`select count(*) from late_changes`)
  const inLagos = all.map(({ created_at }) => Math.floor((created_at.getTime() + hours(1)) / hours(24)))
  const summedLater = new Set(inLagos.filter(day => day >= Math.floor(start.getTime() / hours(24)) + 3))
  expect([marks?.count, await countPeriods(24)]).toEqual([0n, 3 + summedLater.size])
  await sumAll('Africa/Lagos', after(hours(24 * 50), start))
  await everyReport()
  expect([await countPeriods(1), await countPeriods(24)]).toEqual([0, 3 + summedLater.size])
})

test('sums that were not made again do not count', async () => {
  await sumAll('UTC', after(hours(24 * 9), start))
  const unpaid = all.at(0) as Payment
  await lives.db.rows(sql`update payments set status = 'failed' where tx_reference = ${unpaid.tx_reference}`)
  await change(unpaid, 'paid', 'card', after(hours(200), start))
  await everyReport()
  const [marks] = await lives.db.rows<{ count: bigint }>(sql`select count(*) from late_changes`)
  expect(marks?.count).toBe(1n)
})
