import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { audited, auditedDb } from '../../../src/actions/access/audit.ts'
import { sealAuditLog, verifyAuditLog } from '../../../src/actions/access/auditSeal.ts'
import type { Actor, AuditEntry, StoredEntry } from '../../../src/core/access/audit.ts'
import { sql } from '../../../src/store/db.ts'
import { setActive } from '../../../src/store/merchants/merchants.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { hours } from '../../support/payments/rows.ts'

let lives: PaymentDatabase
beforeEach(async () => void (lives = await openPaymentDatabase()))
afterEach(() => lives.close())

const actor: Actor = { kind: 'user', id: 'u_1', address: '203.0.113.7' }
const entry = (subject: string): AuditEntry => ({
  merchant_id: lives.merchant_id,
  action: 'settings.change',
  subject,
  before: { expiry_minutes: '30' },
  after: { expiry_minutes: '60', amount: 1n },
})
const entries = () => lives.db.rows<StoredEntry>(sql`select * from audit_entries order by entry_id`)
const isActive = async () =>
  (
    await lives.db.one<{ active: boolean }>(
      sql`select active from merchants where merchant_id = ${lives.merchant_id}`,
    )
  )?.active

test('the change and its entries are committed together, or neither', async () => {
  const now = new Date()
  await audited(lives.db, actor, now, async (tx, record) => {
    await setActive(tx, lives.merchant_id, false)
    await record(entry('a'))
    await record(entry('b'))
  })
  expect((await entries()).map(({ subject }) => subject)).toEqual(['a', 'b'])
  expect((await entries())[0]).toMatchObject({
    at: now,
    actor_kind: 'user',
    actor_id: 'u_1',
    address: '203.0.113.7',
    merchant_id: lives.merchant_id,
    before: { expiry_minutes: '30' },
    after: { expiry_minutes: '60', amount: '1' },
  })
  const failing = audited(lives.db, actor, now, async (tx, record) => {
    await setActive(tx, lives.merchant_id, true)
    await record(entry('c'))
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect([await isActive(), (await entries()).length]).toEqual([false, 2])
})

test('an action with its own transaction is recorded in it, unless it changed nothing', async () => {
  const db = auditedDb(lives.db, actor, new Date(), (result: string) =>
    result === 'changed' ? entry(result) : undefined,
  )
  for (const result of ['changed', 'unchanged'])
    await db
      .withQuota('dashboard')
      .withDeadline(performance.now() + 5000)
      .transaction(async tx => {
        await setActive(tx, lives.merchant_id, result === 'unchanged')
        return result
      })
  expect((await entries()).map(({ subject }) => subject)).toEqual(['changed'])
})

test('rows are only added', async () => {
  await audited(lives.db, actor, new Date(), (_, record) => record(entry('a')))
  for (const statement of [
    `update audit_entries set subject = 'x'`,
    'delete from audit_entries',
    'truncate audit_entries',
  ])
    await expect(lives.db.rows(sql([statement]))).rejects.toThrow('The audit log is append-only')
})

// The owner of the database can disable the trigger; the seals show it.
const tamper = (statement: string) =>
  lives.db.transaction(async tx => {
    await tx.rows(sql`alter table audit_entries disable trigger audit_entries_append_only`)
    await tx.rows(sql([statement]))
    await tx.rows(sql`alter table audit_entries enable trigger audit_entries_append_only`)
  })

describe('seals of the audit log', () => {
  let ids: string[]
  beforeEach(async () => {
    for (const subject of ['a', 'b', 'c', 'd'])
      await audited(lives.db, actor, new Date(), (_, record) => record(entry(subject)))
    ids = (await entries()).map(({ entry_id }) => entry_id)
    expect(await sealAuditLog(lives.db, new Date(Date.now() + hours(2)))).toMatchObject({ transfers: 4n })
  })

  test('cover every entry, and are not made twice', async () => {
    expect(await sealAuditLog(lives.db, new Date(Date.now() + hours(2)))).toBeUndefined()
    expect(await verifyAuditLog(() => lives.db)).toMatchObject({ seals: 1, rows: 4n, sealFault: null })
  })

  for (const [what, statement, at, words] of [
    [
      'a changed entry',
      `update audit_entries set after = '{}' where subject = 'b'`,
      1,
      'this entry was changed',
    ],
    [
      'another actor',
      `update audit_entries set actor_id = 'u_2' where subject = 'a'`,
      0,
      'this entry was changed',
    ],
    [
      'a removed entry',
      `delete from audit_entries where subject = 'b'`,
      2,
      'an entry before this one is missing',
    ],
    [
      'a removed last entry',
      `delete from audit_entries where subject = 'd'`,
      2,
      '1 missing after this entry',
    ],
    [
      'an inserted entry',
      `insert into audit_entries select 'TG-0', at, actor_kind, actor_id, address, merchant_id, action, 'x', before, after,
        created_at - interval '1 second' from audit_entries where subject = 'a'`,
      undefined,
      'this entry was inserted after the seal',
    ],
  ] as const)
    test(`show ${what}`, async () => {
      await tamper(statement)
      expect((await verifyAuditLog(() => lives.db)).sealFault).toEqual({
        seal: 1,
        row_id: at === undefined ? 'TG-0' : ids[at],
        words,
      })
    })
})
