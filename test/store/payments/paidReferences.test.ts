import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isAlreadyThere } from '../../../src/store/databaseErrors.ts'
import { sql, type Tx } from '../../../src/store/db.ts'
import { findReferenceHolder, holdReferences } from '../../../src/store/payments/attempts.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())
beforeEach(() => lives.db.rows(sql`delete from paid_references`))

const one = { merchant_id: 'ama0000000', attempt_id: 'ama0000000one' }
const two = { merchant_id: 'kofi000000', attempt_id: 'kofi000000two' }

const hold = (tx: Tx, account: string, reference: string, holder: typeof one) =>
  tx.rows(holdReferences([{ account, reference, ...holder }]))
const holderOf = (account: string, reference: string) => findReferenceHolder(lives.db, { account, reference })

test('the first holds it, and the second is refused and finds who does', async () => {
  expect(await holderOf('bank', 'R-1')).toBeUndefined()
  await hold(lives.db, 'bank', 'R-1', one)
  expect(await hold(lives.db, 'bank', 'R-1', two).then(() => 'held', isAlreadyThere)).toBe(true)
  const name = 'a payment that was deleted'
  expect(await holderOf('bank', 'R-1')).toEqual({ ...one, name })
  await hold(lives.db, 'other bank', 'R-1', two)
  expect(await holderOf('other bank', 'R-1')).toEqual({ ...two, name })
})

test('a transaction that comes to nothing holds nothing', async () => {
  const broken = lives.db.transaction(async tx => {
    await hold(tx, 'bank', 'R-2', one)
    throw new Error('later')
  })
  await expect(broken).rejects.toThrow('later')
  await hold(lives.db, 'bank', 'R-2', two)
  expect(await holderOf('bank', 'R-2')).toMatchObject(two)
})
