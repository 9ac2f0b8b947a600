import type { SendResult } from '../../../src/core/message/messenger.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { createRandom } from '../../support/random.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, hours, minutes, noon } from '../../support/payments/rows.ts'
import {
  addMany,
  allMessages,
  later,
  never,
  fakeMessenger,
  testSender,
  yes,
} from '../../support/messages/sender.ts'

const seeds = inject('isProof') ? 40 : 8 // of each kind of network at least one

let lives: PaymentDatabase
let db: Db
let payment: Payment
let now = noon

beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
  const [asked] = await lives.addPayments(1, noon)
  await db.rows(sql`update payments set status = 'paid'`)
  payment = { ...(asked as Payment), status: 'paid' }
})
afterAll(() => lives.close())
beforeEach(begin)

const clock = () => now
async function begin() {
  now = noon
  await db.rows(sql`delete from messages`)
  await addMany(db, payment, ['+233241234567', 'ama@shop.example'], now)
}

describe('retries', () => {
  test('later, with the reason of the network', async () => {
    await testSender(db, clock, [fakeMessenger('sms', () => ({ ...later, afterMs: minutes(3) }))]).sendAll()
    const [sms] = (await allMessages(db)).filter(({ medium }) => medium === 'sms')
    expect(sms).toMatchObject({
      state: 'queued',
      words: 'The network is busy.',
      next_try_at: after(minutes(3)),
      lease_token: null,
      sent_at: null,
      messenger: null,
    })
  })

  test('a messenger that throws is retried', async () => {
    const broken = fakeMessenger('sms', () => {
      throw new Error('it broke')
    })
    await testSender(db, clock, [broken]).sendAll()
    const [sms] = (await allMessages(db)).filter(({ medium }) => medium === 'sms')
    expect(sms).toMatchObject({ state: 'queued', words: 'it broke', next_try_at: after(30_000) })
  })

  test('for a day and no longer, whatever the network replies', async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      await begin()
      const { random, pick } = createRandom(seed)
      const statesById = new Map<string, SendResult['state'][]>()
      const faults: string[] = []
      const answer = ({ id }: { id: string }): SendResult => {
        const before = statesById.get(id) ?? []
        if (before.some(state => state !== 'retry')) faults.push(`sent again after ${before.at(-1)}`)
        if (now >= after(hours(24))) faults.push('sent after the day')
        const ends = seed % 4 > 0 && random() < 0.05
        const sent = ends
          ? pick([yes, never])
          : { ...later, afterMs: random() < 0.1 ? random() * hours(2) : undefined }
        statesById.set(id, [...before, sent.state])
        return sent
      }
      const messengers = [fakeMessenger('sms', answer), fakeMessenger('email', answer)]
      const post = testSender(db, clock, messengers, { random })
      let last = now
      for (;;) {
        if ((await post.sendAll()) > 0) last = now
        const next = await db.one<{ at: Date | null }>(sql`select min(next_try_at) as at from messages`)
        if (!next?.at) break
        now = next.at
      }
      expect(faults).toEqual([])
      for (const message of await allMessages(db)) {
        const states = statesById.get(`${message.merchant_id}-${message.message_id}`) ?? []
        expect(message).toMatchObject({ tries: states.length, lease_token: null, next_try_at: null })
        expect(message.state).toBe(states.at(-1) === 'sent' ? 'sent' : 'dropped')
        if (states.at(-1) === 'retry') expect(message.words).toContain('Could not be sent in 24 hours.')
      }
      if (seed % 4 === 0) expect(last.getTime()).toBeGreaterThan(after(hours(20)).getTime())
    }
  }, 300_000)
})
