import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { holdReference, nameOfAttempt } from '../../../src/store/payments/paidReferences.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())
beforeEach(() => lives.db.rows(sql`delete from paid_references`))

const one = { merchant_id: 'ama0000000', attempt_id: 'ama0000000one' }
const two = { merchant_id: 'kofi000000', attempt_id: 'kofi000000two' }

test('the first holds it, the second hears who does, and the first may ask again', async () => {
  expect(await holdReference(lives.db, 'bank', 'R-1', one)).toEqual(one)
  expect(await holdReference(lives.db, 'bank', 'R-1', two)).toEqual(one)
  expect(await holdReference(lives.db, 'bank', 'R-1', one)).toEqual(one)
  expect(await holdReference(lives.db, 'other bank', 'R-1', two)).toEqual(two)
  expect(await nameOfAttempt(lives.db, one)).toBe('a payment that is not here any more')
})

test('a transaction that comes to nothing holds nothing', async () => {
  const broken = lives.db.transaction(async tx => {
    await holdReference(tx, 'bank', 'R-2', one)
    throw new Error('later')
  })
  await expect(broken).rejects.toThrow('later')
  expect(await holdReference(lives.db, 'bank', 'R-2', two)).toEqual(two)
})
