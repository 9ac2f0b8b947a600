import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { balancesAt, takeSnapshot } from '../../../src/actions/ledger/balances.ts'
import { sealTransfers } from '../../../src/actions/ledger/seal.ts'
import { isIntact, verifyLedger } from '../../../src/actions/ledger/verify.ts'
import type { NewTransfer } from '../../../src/core/ledger/book.ts'
import { sql } from '../../../src/store/db.ts'
import { bookTransfers } from '../../../src/store/ledger/transfers.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, hours, minutes, noon } from '../../support/payments/rows.ts'

// Each test changes the ledger of its own database as its owner can: with the trigger disabled.
let lives: PaymentDatabase
beforeEach(async () => void (lives = await openPaymentDatabase()))
afterEach(() => lives.close())

const transfer = (at: number, amount = 100n): NewTransfer => ({
  merchant_id: lives.merchant_id,
  transfer_id: `TG-${at}/1/charge`,
  mode: 'live',
  currency: 'GHS',
  debit_account: 'provider:mtn',
  credit_account: 'merchant',
  amount,
  kind: 'charge',
  tx_reference: `TG-${at}`,
  attempt_id: null,
  refund_reference: null,
  reason: '',
  happened_at: noon,
})

const tamper = (statement: string) =>
  lives.db.transaction(async tx => {
    await tx.rows(sql`alter table transfers disable trigger transfers_append_only`)
    await tx.rows(sql`alter table ledger_seals disable trigger ledger_seals_append_only`)
    await tx.rows(sql([statement]))
    await tx.rows(sql`alter table transfers enable trigger transfers_append_only`)
    await tx.rows(sql`alter table ledger_seals enable trigger ledger_seals_append_only`)
  })

// Three transfers in each of three hours, sealed.
async function sealedLedger() {
  await lives.db.rows(bookTransfers(Array.from({ length: 9 }, (_, at) => transfer(at))))
  await tamper(`
    update transfers set created_at = '2026-03-02T09:10:00Z'::timestamptz
      + substr(tx_reference, 4)::integer % 3 * interval '10 minutes 1 microsecond'
      + substr(tx_reference, 4)::integer / 3 * interval '1 hour'`)
  for (const hour of [0, 1, 2]) expect(await seal(hours(hour - 1))).toBeDefined()
}
const seal = (ms: number) => sealTransfers(lives.db, lives.merchant_id, after(ms - minutes(30)))
const verify = (expected?: { number: number; digest: string }) =>
  verifyLedger(lives.db, lives.merchant_id, after(hours(24)), expected)

describe('a chain of seals', () => {
  beforeEach(sealedLedger)

  test('covers all transfers, and is not made twice', async () => {
    expect(await seal(hours(2))).toBeUndefined()
    const report = await verify()
    expect(report).toMatchObject({ seals: 3, transfers: 9n, sealFault: null, head: { number: 3 } })
  })

  test('goes on after an hour without transfers', async () => {
    await lives.db.rows(bookTransfers([transfer(9)]))
    expect(await sealTransfers(lives.db, lives.merchant_id, new Date(Date.now() + hours(2)))).toMatchObject({
      number: 4,
      transfers: 1n,
    })
    expect((await verify()).sealFault).toBeNull()
  })

  for (const [what, statement, fault] of [
    [
      'a changed amount',
      `update transfers set amount = 101 where transfer_id = 'TG-4/1/charge'`,
      { seal: 2, row_id: 'TG-4/1/charge', words: 'this transfer was changed' },
    ],
    [
      'a changed reason',
      `update transfers set reason = 'x' where transfer_id = 'TG-0/1/charge'`,
      { seal: 1, row_id: 'TG-0/1/charge' },
    ],
    [
      'a time that differs by a microsecond',
      `update transfers set happened_at = happened_at + interval '1 microsecond' where transfer_id = 'TG-8/1/charge'`,
      { seal: 3, row_id: 'TG-8/1/charge' },
    ],
    [
      'a deleted transfer',
      `delete from transfers where transfer_id = 'TG-3/1/charge'`,
      { seal: 2, row_id: 'TG-4/1/charge', words: 'a transfer before this one is missing' },
    ],
    [
      'the last transfer of an hour deleted',
      `delete from transfers where transfer_id = 'TG-5/1/charge'`,
      { seal: 2, row_id: 'TG-4/1/charge', words: '1 missing after this transfer' },
    ],
    [
      'a transfer inserted into a sealed hour',
      `insert into transfers select merchant_id, 'TG-3/2/charge', mode, currency, debit_account, credit_account, amount,
        kind, tx_reference, attempt_id, refund_reference, reason, happened_at, created_at + interval '1 second'
        from transfers where transfer_id = 'TG-3/1/charge'`,
      { seal: 2, row_id: 'TG-3/2/charge', words: 'this transfer was inserted after the seal' },
    ],
    [
      'a transfer moved to another hour',
      `update transfers set created_at = created_at + interval '1 hour' where transfer_id = 'TG-3/1/charge'`,
      { seal: 2, row_id: 'TG-4/1/charge' },
    ],
    [
      'two transfers in another order',
      `update transfers set created_at = '2026-03-02T09:15:00Z' where transfer_id = 'TG-2/1/charge'`,
      { seal: 1, row_id: 'TG-2/1/charge' },
    ],
    [
      'a changed seal',
      `update ledger_seals set digest = sha256('x') where number = 2`,
      { seal: 2, row_id: null, words: 'the seal itself was changed' },
    ],
    [
      'a deleted seal',
      `delete from ledger_seals where number = 2`,
      { seal: 3, words: 'a seal before it is missing' },
    ],
    [
      'a changed seal with its rows',
      `update ledger_seals set row_digests = '\\x00' where number = 1`,
      { seal: 1 },
    ],
  ] as const)
    test(`shows ${what}`, async () => {
      await tamper(statement)
      const report = await verify()
      expect(report.sealFault).toMatchObject(fault)
      expect(isIntact(report)).toBe(false)
    })

  test('that was replaced as a whole does not have the head that was exported', async () => {
    const { head } = await verify()
    const expected = { number: 3, digest: head?.digest ?? '' }
    expect((await verify(expected)).sealFault).toBeNull()
    await tamper(`delete from ledger_seals`)
    await tamper(`update transfers set amount = 1 where transfer_id = 'TG-4/1/charge'`)
    for (const hour of [0, 1, 2]) await seal(hours(hour - 1))
    expect((await verify()).sealFault).toBeNull()
    expect((await verify(expected)).sealFault).toMatchObject({
      seal: 3,
      words: expect.stringContaining('exported'),
    })
  })
})

const balances = async (at: Date) =>
  (await balancesAt(lives.db, lives.merchant_id, at)).map(({ account, balance }) => [account, balance])

describe('a snapshot', () => {
  beforeEach(sealedLedger)

  test('and the rest of the day make the balance', async () => {
    const midnight = new Date('2026-03-03T00:00:00Z')
    const all = [
      ['merchant', 900n],
      ['provider:mtn', 900n],
    ]
    expect(await balances(midnight)).toEqual(all)
    expect(await takeSnapshot(lives.db, lives.merchant_id, 'UTC', after(hours(13)))).toBe(true)
    expect(await takeSnapshot(lives.db, lives.merchant_id, 'UTC', after(hours(13)))).toBe(false)
    await lives.db.rows(bookTransfers([transfer(9, 50n)]))
    expect(await balances(midnight)).toEqual(all)
    expect(await balances(new Date(Date.now() + hours(1)))).toEqual([
      ['merchant', 950n],
      ['provider:mtn', 950n],
    ])
    expect(await balances(new Date('2026-03-02T10:15:00Z'))).toEqual([
      ['merchant', 400n],
      ['provider:mtn', 400n],
    ])
  })

  test('of each day is stored, also after a pause of the workers', async () => {
    await tamper(`insert into transfers select merchant_id, transfer_id || '/' || n, mode, currency, debit_account,
      credit_account, amount, kind, tx_reference, attempt_id, refund_reference, reason, happened_at,
      created_at + n * interval '1 day' from transfers, generate_series(2, 3) n`)
    const now = after(5 * hours(24))
    const taken: boolean[] = []
    while (taken.at(-1) !== false) taken.push(await takeSnapshot(lives.db, lives.merchant_id, 'UTC', now))
    expect(taken).toEqual([true, true, true, false])
    expect(
      await lives.db.rows(sql`
        select until_at::date::text as day, credits::text from ledger_snapshots where account = 'merchant' order by 1`),
    ).toEqual([
      { day: '2026-03-03', credits: '900' },
      { day: '2026-03-05', credits: '1800' },
      { day: '2026-03-06', credits: '2700' },
    ])
  })

  test('ends with the day of the time zone', async () => {
    expect(await takeSnapshot(lives.db, lives.merchant_id, 'Pacific/Auckland', after(0))).toBe(true)
    const [row] = await lives.db.rows<{ until_at: Date }>(
      sql`select max(until_at) as until_at from ledger_snapshots`,
    )
    expect(row?.until_at).toEqual(new Date('2026-03-02T11:00:00Z'))
  })

  test('that was changed is found', async () => {
    await takeSnapshot(lives.db, lives.merchant_id, 'UTC', after(hours(13)))
    expect((await verify()).snapshotFaults).toEqual([])
    await lives.db.rows(sql`update ledger_snapshots set debits = debits + 1 where account = 'merchant'`)
    expect((await verify()).snapshotFaults).toEqual([
      'by the transfers live GHS merchant: 0 in, 900 out',
      'by the snapshot live GHS merchant: 1 in, 900 out',
    ])
  })
})
