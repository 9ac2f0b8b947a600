import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { holdReference, nameOfAttempt } from '../../../src/store/payments/paidReferences.ts'
import { hold } from '../../support/held.ts'
import { type Lives, openLives } from '../../support/lifeDb.ts'
import { noon } from '../../support/lifeRows.ts'

let lives: Lives
beforeAll(async () => {
  lives = await openLives()
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

const soFar = readFileSync('src/store/migrations/former/0047_paid_references_so_far.sql', 'utf8')

test('what was paid before is held, too; again changes nothing, and nobody who pays waits for it', async () => {
  const payments = await lives.addPayments(4, noon)
  for (const [at, { merchant_id, tx_reference }] of payments.entries())
    await lives.db.rows(sql`
      insert into attempts (merchant_id, attempt_id, tx_reference, number, channel, payment_method, state,
        provider_ref, created_at, updated_at)
      values (${merchant_id}, ${`${merchant_id}a${at}`}, ${tx_reference}, 1, 'sandbox', 'card',
        ${at === 3 ? 'failed' : 'paid'}, ${at === 2 ? null : `R-${at}`}, now(), now())`)
  const letGo = await hold(lives.url, `select from attempts where state = 'paid'`, [])
  try {
    for (let times = 0; times < 2; times++) await lives.db.rows(sql([soFar]))
  } finally {
    await letGo()
  }
  const held = await lives.db.rows(sql`select account, reference, attempt_id from paid_references order by 2`)
  expect(held).toMatchObject([
    { account: 'sandbox', reference: 'R-0' },
    { account: 'sandbox', reference: 'R-1' },
  ])
})
