import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sealAuditLog, verifyAuditLog } from '../../../src/actions/access/auditSeal.ts'
import { sealTransfers } from '../../../src/actions/ledger/seal.ts'
import { isIntact, verifyLedger } from '../../../src/actions/ledger/verify.ts'
import { exportPerson } from '../../../src/actions/redaction/exportPerson.ts'
import { type ErasePlace, eraseStep, type KeptPayment } from '../../../src/actions/redaction/person.ts'
import type { Actor } from '../../../src/core/access/audit.ts'
import { statusRecord } from '../../../src/core/interface/statusRecord.ts'
import { readPerson } from '../../../src/core/redaction/readPerson.ts'
import type { Person } from '../../../src/core/redaction/redact.ts'
import { sql } from '../../../src/store/db.ts'
import { query } from '../../support/database/database.ts'
import { lockRows } from '../../support/database/lockRows.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, noon, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
let other: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Kofi Shop')
  other = await shop.addMerchant('Esi Shop')
})
beforeEach(() => shop.setNow(noon))
afterAll(() => shop.stop())

const actor: Actor = { kind: 'command', id: 'root', address: 'host' }
const later = after(hours(3))
const mail = 'ama.mensah@mail.example'
const phone = '+233241234567'
const traces = 'ama[.]mensah|24[ .-]*123[ .-]*4567'

const ask = (fields: Record<string, unknown> = {}, of = merchant) =>
  shop.ask(of, { name: 'Ama Mensah', email: mail, number: '0241234567', total: '25.00', ...fields })

const endAll = () =>
  shop.db.rows(sql`
    with d as (update deliveries set next_try_at = null, acknowledged_at = ${noon}, tries = 1, last_try = 1,
      last_try_at = ${noon}, last_answer = 'Thanks, ama.mensah@mail.example')
    update messages set next_try_at = null, state = 'sent', sent_at = ${noon}`)

const person = (typed: string) => readPerson(typed) as Person

async function eraseAll(typed: string, now = later) {
  let place: ErasePlace | undefined = 'indexed'
  let erased = 0
  const kept: KeptPayment[] = []
  while (place) {
    const step: Awaited<ReturnType<typeof eraseStep>> = await eraseStep(
      shop.db,
      { person: person(typed), actor, now },
      place,
    )
    erased += step.erased
    kept.push(...step.kept)
    place = step.next
  }
  return { erased, kept: [...new Map(kept.map(one => [one.tx_reference, one.because]))] }
}

// Every text, in whichever column of whichever table, that has the number or address.
async function found(): Promise<string[]> {
  const columns = await query(
    shop.url,
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = 'public' and data_type in ('text', 'jsonb', 'bytea', 'character varying')`,
  )
  const looks = columns.map(
    ({ table_name, column_name, data_type }) =>
      `select '${table_name}.${column_name}' as place from ${table_name}
       where ${data_type === 'bytea' ? `encode(${column_name}, 'escape')` : `${column_name}::text`} ~* $1`,
  )
  const rows = await query(shop.url, looks.join(' union '), [traces])
  return rows.map(({ place }) => place as string).toSorted()
}

for (const [typed, read] of [
  ['024 123 4567', { kind: 'phone', value: phone }],
  ['+233241234567', { kind: 'phone', value: phone }],
  [' Ama.Mensah@mail.example ', { kind: 'email', value: mail }],
  ['Ama', undefined],
  ['', undefined],
] as const)
  test(`"${typed}" is ${read?.kind ?? 'no person'}`, () => expect(readPerson(typed)).toEqual(read))

test('after erasing, no table has the number or address; seals fit and status checks answer', async () => {
  const paid = await shop.try(await ask({ invoice_id: 'P-1' }), yes)
  const elsewhere = await shop.try(await ask({ invoice_id: 'P-2', email: undefined }, other), yes)
  // Only a text has it.
  const hidden = await shop.try(
    await ask({ invoice_id: 'P-3', number: undefined, email: undefined, extra_phone: '024-123-4567' }),
    yes,
  )
  await shop.db.rows(sql`update attempts set instrument = null where tx_reference = ${hidden.tx_reference}`)
  const foreign = await ask({
    invoice_id: 'P-4',
    number: '0209876543',
    email: 'yaw@mail.example',
    name: 'Yaw',
  })
  await shop.db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at, closed_at, closed_note)
    values (${merchant.merchant_id}, 'of another payment', 'unresolved', ${foreign.tx_reference}, 1, 'GHS',
      'Same as +233 24 123 4567', ${noon}, ${noon}, 'Called ama.mensah@mail.example')`)
  await endAll()
  await sealTransfers(shop.db, merchant.merchant_id, new Date(Date.now() + 3 * 3_600_000))
  expect((await found()).length).toBeGreaterThan(5)
  expect(await eraseAll('0241234567')).toEqual({ erased: 3, kept: [] })
  await eraseAll(mail)
  expect(await found()).toEqual([])
  await sealAuditLog(shop.db, new Date(Date.now() + 3 * 3_600_000))
  expect((await verifyAuditLog(shop.db)).sealFault).toBeNull()
  for (const { merchant_id } of [merchant, other])
    expect(isIntact(await verifyLedger(shop.db, merchant_id, new Date()))).toBe(true)
  for (const payment of [paid, elsewhere, hidden]) {
    const fresh = await shop.fresh(payment)
    expect(fresh).toMatchObject({ status: 'paid', total: 2500n, number: null, email: null, name: null })
    expect(statusRecord(fresh, later, 'whole')).toMatchObject({ invoice_id: payment.invoice_id })
  }
  // The other customer keeps his data, and only the note is changed.
  expect(await shop.fresh(foreign)).toMatchObject({ email: 'yaw@mail.example', redacted_at: null })
  expect(await shop.db.rows(sql`select note, closed_note from tasks`)).toEqual([
    { note: 'Same as (removed)', closed_note: 'Called (removed)' },
  ])
  // The log says how many, and not who.
  expect(
    await shop.db.rows(
      sql`select subject, after from audit_entries where action = 'person.erase' order by entry_id`,
    ),
  ).toEqual([
    { subject: 'phone', after: { payments: 2 } },
    { subject: 'phone', after: { payments: 1 } },
  ])
})

test('a payment with anything open keeps its data and says why, and is erased later', async () => {
  const waiting = await ask({ invoice_id: 'P-5' })
  const unknown = await shop.try(await ask({ invoice_id: 'P-6' }), { state: 'unknown', words: 'HTTP 500' })
  const unsent = await shop.try(await ask({ invoice_id: 'P-7' }), yes)
  const result = await eraseAll('0241234567')
  expect(result.erased).toBe(0)
  expect(Object.fromEntries(result.kept)).toEqual({
    [waiting.tx_reference]: 'not_ended',
    [unknown.tx_reference]: 'not_ended',
    [unsent.tx_reference]: expect.stringMatching(/^(notification|message)$/),
  })
  await endAll()
  expect(await eraseAll('0241234567')).toMatchObject({ erased: 1 })
  expect(await shop.fresh(waiting)).toMatchObject({ number: phone, email: mail })
})

test('a payment that a worker has locked is left, and named', async () => {
  const payment = await shop.try(
    await ask({ invoice_id: 'P-8', number: '0551112222', email: 'l@mail.example' }),
    yes,
  )
  await endAll()
  const release = await lockRows(
    shop.url,
    `select 1 from payments where tx_reference = '${payment.tx_reference}'`,
  )
  expect(await eraseAll('l@mail.example')).toEqual({ erased: 0, kept: [[payment.tx_reference, 'busy']] })
  await release()
  expect(await eraseAll('l@mail.example')).toEqual({ erased: 1, kept: [] })
  expect(await eraseAll('l@mail.example')).toEqual({ erased: 0, kept: [] })
})

test('a later payment of the same number is not affected', async () => {
  const later2 = await ask({ invoice_id: 'P-9', number: '0551112222', email: 'l@mail.example' })
  expect(await shop.fresh(later2)).toMatchObject({ number: '+233551112222', redacted_at: null })
})

test('the export has everything about the person, and no token', async () => {
  const payment = await shop.try(
    await ask({ invoice_id: 'P-10', number: '0557778888', email: 'x@mail.example', extra_table: '7' }),
    yes,
  )
  let text = ''
  for await (const part of exportPerson(() => shop.db, person('0557778888'), actor, noon)) text += part
  const exported = JSON.parse(text) as { phone: string; payments: Record<string, unknown>[] }
  expect(exported.phone).toBe('+233557778888')
  expect(exported.payments).toHaveLength(1)
  expect(exported.payments[0]).toMatchObject({
    reference: payment.tx_reference,
    total: '25.00',
    email: 'x@mail.example',
    extra: { table: '7' },
  })
  expect(text).not.toContain(payment.tx_token)
})
