import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/core/message/message.ts'
import type { Receipt } from '../../../src/core/message/messenger.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { createReceipts, type ReceiptOptions } from '../../../src/workers/messages/receipts.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, hours, noon } from '../../support/payments/rows.ts'
import { addMany, allMessages, fakeMessenger, testSender } from '../../support/messages/sender.ts'
import { startPostgresProxy } from '../../support/database/postgresProxy.ts'

let lives: PaymentDatabase
let db: Db
let payment: Payment

beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
  const [asked] = await lives.addPayments(1, noon)
  await db.rows(sql`update payments set status = 'paid'`)
  payment = { ...(asked as Payment), status: 'paid' }
})
afterAll(() => lives.close())
beforeEach(() => db.rows(sql`delete from messages`))

const later = after(hours(1))
const desk = (more: Partial<ReceiptOptions> = {}) => {
  const seen: string[] = []
  const observe = ({ state }: Pick<Receipt, 'state'>) => void seen.push(state)
  const onTrouble = (error: unknown) => void seen.push(String(error))
  return {
    seen,
    ...createReceipts({ db, clock: () => later, observe, onTrouble, pauses: [5, 20, 100], ...more }),
  }
}
const send = async (provider_ref: string, now = noon) => {
  await addMany(db, payment, ['+233241234567'], now)
  const sms = fakeMessenger('sms', () => ({ state: 'sent', provider_ref }))
  await testSender(db, () => now, [sms]).sendAll()
}
const one = async () => (await allMessages(db))[0] as Message

const delivered: Receipt = { provider_ref: 'R-1', state: 'delivered', reason: '' }
const lost: Receipt = { provider_ref: 'R-1', state: 'lost', reason: 'The phone 233241234567 is off.' }

test('a receipt of an unknown message is discarded', async () => {
  await send('R-1')
  const { receive, settled, seen } = desk()
  receive({ ...delivered, provider_ref: 'R-2' })
  await settled()
  expect(seen).toEqual([])
  expect(await one()).toMatchObject({ state: 'sent' })
})

describe('in any order', () => {
  for (const [receipts, state, words] of [
    [[delivered], 'delivered', ''],
    [[lost], 'sent', 'Lost: The phone ... is off.'],
    [[delivered, delivered], 'delivered', ''],
    [[delivered, lost], 'delivered', ''],
    [[lost, delivered], 'delivered', ''],
    [[lost, lost, delivered, lost], 'delivered', ''],
  ] as const)
    for (const together of [true, false])
      test(`${receipts.map(receipt => receipt.state).join(', ')}${together ? ' together' : ''}`, async () => {
        await send('R-1')
        const { receive, settled } = desk()
        for (const receipt of receipts) {
          receive(receipt)
          if (!together) await settled()
        }
        await settled()
        expect(await one()).toMatchObject({ state, words, ended_at: later, sent_at: noon })
      })
})

test('a reused reference belongs to the newest message', async () => {
  await send('R-1', noon)
  await send('R-1', after(1000))
  const { receive, settled } = desk()
  receive(delivered)
  await settled()
  const states = (await allMessages(db)).map(
    ({ sent_at, state }) => `${sent_at?.getTime() === noon.getTime()} ${state}`,
  )
  expect(states.toSorted()).toEqual(['false delivered', 'true sent'])
})

test('a receipt before the result of its message is not lost', async () => {
  const { receive, settled, seen } = desk({ pauses: [50, 50, 100, 200, 400] })
  receive(delivered)
  await new Promise(done => setTimeout(done, 120))
  await send('R-1')
  await settled()
  expect(seen).toEqual(['delivered'])
  expect(await one()).toMatchObject({ state: 'delivered' })
})

test('a receipt while the database is down is retried for a while', async () => {
  await send('R-1')
  const proxy = await startPostgresProxy(lives.url)
  const behind = openDb(proxy.url, 1)
  await proxy.goDown()
  const { receive, settled, seen } = desk({ db: behind, pauses: [500, 500] })
  receive(delivered)
  await new Promise(done => setTimeout(done, 5200))
  await proxy.comeUp()
  await settled()
  expect(seen).toEqual(['delivered'])
  await behind.end()
  await proxy.stop()
})

test('a flood of unknown receipts ends, and does not delay the stop', async () => {
  const { receive, stop } = desk({ pauses: [60_000] })
  for (let at = 0; at < 5000; at++) receive({ ...delivered, provider_ref: `S-${at}` })
  await new Promise(done => setTimeout(done, 50))
  await stop()
  receive(delivered) // ignored after the stop
})
