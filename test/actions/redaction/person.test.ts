import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sealAuditLog, verifyAuditLog } from '../../../src/actions/access/auditSeal.ts'
import { sealTransfers } from '../../../src/actions/ledger/seal.ts'
import { isIntact, verifyLedger } from '../../../src/actions/ledger/verify.ts'
import { beginErasing, eraseStep, tablesToErase } from '../../../src/actions/redaction/erasePerson.ts'
import { exportPerson } from '../../../src/actions/redaction/exportPerson.ts'
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
  let erasing = await beginErasing(shop.db, person(typed), actor, now)
  while (erasing.place) erasing = await eraseStep(shop.db, erasing, actor, now)
  return {
    erased: erasing.done.payments,
    kept: erasing.kept.map(one => [one.tx_reference, one.because]),
  }
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

async function exportAll(typed: string) {
  let text = ''
  for await (const part of exportPerson(() => shop.db, person(typed), actor, noon)) text += part
  return JSON.parse(text) as {
    payments: { reference: string }[]
    mentions: (Record<string, unknown> & { table: string; reference: string })[]
  }
}

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
  expect(await eraseAll('0241234567')).toEqual({ erased: 2, kept: [] })
  await eraseAll(mail)
  expect(await found()).toEqual([])
  await sealAuditLog(shop.db, new Date(Date.now() + 3 * 3_600_000))
  expect((await verifyAuditLog(() => shop.db)).sealFault).toBeNull()
  for (const { merchant_id } of [merchant, other])
    expect(isIntact(await verifyLedger(shop.db, merchant_id, new Date()))).toBe(true)
  // Of the payment with the number in an extra field, only that and the name are removed.
  expect(await shop.fresh(hidden)).toMatchObject({
    total: 2500n,
    name: '(removed)',
    extra: { phone: '(removed)' },
    redacted_at: null,
  })
  for (const payment of [paid, elsewhere]) {
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
      sql`select subject, after from audit_entries where action like 'person.erase%' order by entry_id`,
    ),
  ).toEqual([
    { subject: 'phone', after: null },
    { subject: 'phone', after: { payments: 2, texts: 2, kept: 0 } },
    { subject: 'email', after: null },
    { subject: 'email', after: { payments: 0, texts: 0, kept: 0 } },
  ])
})

test('each table is read once, in batches, and a text about another payment is exported once', async () => {
  const about = 'yaa.asante@mail.example'
  const foreign = await Promise.all(
    ['P-20', 'P-21', 'P-22'].map(invoice_id => ask({ invoice_id, number: '0209876543', email: undefined })),
  )
  for (const { tx_reference } of foreign)
    await shop.db.rows(sql`
      insert into events (merchant_id, tx_reference, sequence, kind, cause, reason, at)
      select ${merchant.merchant_id}, ${tx_reference}, n, 'refunded', 'operator', ${`Called ${about}`}, now()
      from generate_series(90, 92) n`)
  expect((await exportAll(about)).mentions).toHaveLength(9)
  let erasing = await beginErasing(shop.db, person(about), actor, later)
  let steps = 0
  for (; erasing.place; steps++) erasing = await eraseStep(shop.db, erasing, actor, later)
  expect(erasing.done.texts).toBe(9)
  const merchants = 2
  expect(steps).toBeLessThanOrEqual(tablesToErase * merchants * 2) // its rows, and then its end
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

test('a payment with an open dispute, or a refund that waits for a second person, is kept until that has ended', async () => {
  const fields = { number: '0551239876', email: 'd@mail.example' }
  const disputed = await shop.try(await ask({ ...fields, invoice_id: 'P-40' }), yes)
  const waiting = await shop.try(await ask({ ...fields, invoice_id: 'P-41' }), yes)
  await endAll()
  const { merchant_id } = merchant
  await shop.db.rows(sql`
    insert into disputes (merchant_id, attempt_id, dispute_id, tx_reference, state, amount, currency, reason, due_at, opened_at)
    select merchant_id, attempt_id, 'D-1', tx_reference, 'open', 2500, 'GHS', '', ${later}, ${noon} from attempts
    where merchant_id = ${merchant_id} and tx_reference = ${disputed.tx_reference}`)
  await shop.db.rows(sql`
    insert into refund_approvals (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_number, source,
      amount, currency, requested_by, requester_id, state, created_at, expires_at)
    values (${merchant_id}, ${`${merchant_id}R1`}, 'test', ${waiting.tx_reference}, 'P-41', 1, 'payment', 500, 'GHS',
      'merchant', 'u_1', 'waiting', ${noon}, ${later})`)
  const { erased, kept } = await eraseAll('d@mail.example')
  expect([erased, Object.fromEntries(kept)]).toEqual([
    0,
    { [disputed.tx_reference]: 'dispute', [waiting.tx_reference]: 'refund' },
  ])
  await shop.db.rows(sql`update disputes set state = 'won', resolved_at = ${noon}`)
  expect(await eraseAll('d@mail.example')).toEqual({ erased: 1, kept: [[waiting.tx_reference, 'refund']] })
  await shop.db.rows(
    sql`update refund_approvals set state = 'rejected', decider_id = 'u_2', decided_at = ${noon}`,
  )
  expect(await eraseAll('d@mail.example')).toEqual({ erased: 1, kept: [] })
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

test('a payment that is locked only at first is erased, and not named', async () => {
  const fields = { invoice_id: 'P-30', number: '0553334444', email: 'm@mail.example' }
  const payment = await shop.try(await ask(fields), yes)
  await endAll()
  const release = await lockRows(
    shop.url,
    `select 1 from payments where tx_reference = '${payment.tx_reference}'`,
  )
  let erasing = await beginErasing(shop.db, person('m@mail.example'), actor, later)
  while (erasing.place && erasing.kept.length === 0) erasing = await eraseStep(shop.db, erasing, actor, later)
  expect(erasing.kept).toMatchObject([{ tx_reference: payment.tx_reference, because: 'busy' }])
  await release()
  while (erasing.place) erasing = await eraseStep(shop.db, erasing, actor, later)
  expect([erasing.done.payments, erasing.kept]).toEqual([1, []])
})

test('a later payment of the same number is not affected', async () => {
  const later2 = await ask({ invoice_id: 'P-9', number: '0551112222', email: 'l@mail.example' })
  expect(await shop.fresh(later2)).toMatchObject({ number: '+233551112222', redacted_at: null })
})

test('an export sends something for each batch that it reads, also if nothing is found', async () => {
  let [parts, opened] = [0, 0]
  const open = () => {
    opened++
    return shop.db
  }
  let text = ''
  for await (const part of exportPerson(open, person('nobody@mail.example'), actor, noon)) {
    if (part !== '') parts++
    text += part
  }
  expect(JSON.parse(text)).toMatchObject({ payments: [], mentions: [] })
  expect(parts).toBeGreaterThanOrEqual(tablesToErase * 2) // for two merchants
  const cancelled = exportPerson(open, person('nobody@mail.example'), actor, noon)
  for (let part = 0; part < 4; part++) await cancelled.next()
  opened = 0
  await Promise.all([cancelled.next(), cancelled.return(undefined)])
  expect(opened).toBeLessThanOrEqual(3) // the batch that was being read
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

test('people whose number or address contains that of the person are neither erased nor exported', async () => {
  const mine = await shop.try(
    await ask({ invoice_id: 'P-50', name: 'Efua Owusu', number: '0544123456', email: 'efua@mail.co' }),
    yes,
  )
  const others = [
    { number: '+2250544123456', email: 'yaw1@mail.example' },
    { number: undefined, email: 'panefua@mail.co' },
    { number: undefined, email: 'efua@mail.com' },
    { number: undefined, email: 'yaw2@mail.example', description: 'txn 9954412345677' },
    { number: undefined, email: 'yaw3@mail.example', extra_contact: 'efua@mail.co.uk' },
  ]
  const theirs = []
  for (const [at, fields] of others.entries())
    theirs.push(await shop.try(await ask({ invoice_id: `P-51-${at}`, name: 'Yaw Boateng', ...fields }), yes))
  await endAll()
  const before = await Promise.all(theirs.map(shop.fresh))
  for (const typed of ['0544123456', 'efua@mail.co'])
    expect(await exportAll(typed)).toMatchObject({
      payments: [{ reference: mine.tx_reference }],
      mentions: [],
    })
  expect(await eraseAll('efua@mail.co')).toEqual({ erased: 1, kept: [] })
  expect(await eraseAll('0544123456')).toEqual({ erased: 0, kept: [] })
  expect(await shop.fresh(mine)).toMatchObject({ number: null, email: null })
  expect(await Promise.all(theirs.map(shop.fresh))).toEqual(before)
})

test('of a payment of another person, only the texts that name the person are exported and replaced', async () => {
  const fields = {
    invoice_id: 'P-60',
    name: 'Yaw Boateng',
    number: '0209998888',
    email: 'yaw@mail.example',
    description: 'Served by 026 111 2222. Thank you',
    extra_cashier: '+233261112222',
    extra_table: '7',
    success_url: 'https://shop.example/thanks?cashier=0261112222',
    ipn_url: 'https://shop.example/ipn?cashier=0261112222',
  }
  const paid = await shop.try(await ask(fields), yes)
  const { merchant_id } = merchant
  const waiting = await ask({ ...fields, invoice_id: 'P-61' })
  const exported = await exportAll('0261112222')
  expect(exported.payments).toEqual([])
  const [own] = exported.mentions.filter(
    ({ table, reference }) => table === 'payments' && reference === paid.tx_reference,
  )
  expect(own).toEqual({
    table: 'payments',
    merchant_id,
    reference: paid.tx_reference,
    description: fields.description,
    extra: { cashier: '+233261112222' },
    success_url: fields.success_url,
    ipn_url: fields.ipn_url,
  })
  expect(JSON.stringify(exported)).not.toMatch(/Yaw|0209998888|\+233209998888|yaw@/)
  await endAll()
  expect(await eraseAll('0261112222')).toEqual({ erased: 0, kept: [[waiting.tx_reference, 'not_ended']] })
  expect(await shop.fresh(paid)).toMatchObject({
    name: 'Yaw Boateng',
    number: '+233209998888',
    email: 'yaw@mail.example',
    description: 'Served by (removed). Thank you',
    extra: { cashier: '(removed)', table: '7' },
    success_url: 'https://shop.example/thanks',
    ipn_url: 'https://shop.example/ipn',
    redacted_at: null,
  })
  expect(await shop.fresh(waiting)).toMatchObject({ extra: { cashier: '+233261112222' } })
  const [{ body } = { body: '' }] = await shop.db.rows<{ body: string }>(
    sql`select body from notifications where tx_reference = ${paid.tx_reference}`,
  )
  expect(JSON.parse(body)).toMatchObject({ extra: { cashier: '(removed)', mobile_no: '+233209998888' } })
  expect(await exportAll('0209998888')).toMatchObject({
    payments: [{ reference: waiting.tx_reference }, { reference: paid.tx_reference }],
  })
})

test('a wallet, a recipient and the input of an open attempt make a payment the person’s', async () => {
  const paid = await shop.try(
    await ask({ invoice_id: 'P-70', number: '0271110001', email: 'k@mail.example' }),
    yes,
  )
  await shop.db.rows(
    sql`update attempts set instrument = '+233271110002' where tx_reference = ${paid.tx_reference}`,
  )
  await shop.db.rows(sql`
    update messages set recipient = 'Kk@mail.example', mailbox = 'kk@mail.example'
    where tx_reference = ${paid.tx_reference} and medium = 'email'`)
  for (const typed of ['0271110002', 'kk@mail.example'])
    expect((await exportAll(typed)).payments).toMatchObject([{ reference: paid.tx_reference }])
  await endAll()
  expect(await eraseAll('kk@mail.example')).toEqual({ erased: 1, kept: [] })
  expect(await shop.fresh(paid)).toMatchObject({ number: null, email: null })
})

test('an open task that names the person is kept, also if its payment has similar digits', async () => {
  const asked = { invoice_id: 'P-90', number: '0271110008', description: 'txn 9927444000077' }
  const paid = await shop.try(await ask(asked), yes)
  await endAll()
  await shop.db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    values (${merchant.merchant_id}, 'P-90', 'unresolved', ${paid.tx_reference}, 1, 'GHS', '0274440000 called', ${noon})`)
  expect(await eraseAll('0274440000')).toEqual({ erased: 0, kept: [[paid.tx_reference, 'task']] })
  expect(await shop.fresh(paid)).toMatchObject({ description: asked.description })
})

test('an answer of any bytes that has the person is removed', async () => {
  const ipn_url = 'https://shop.example/ipn'
  const asked = { invoice_id: 'P-80', number: '0271110009', email: 'b@mail.example', ipn_url }
  const paid = await shop.try(await ask(asked), yes)
  await endAll()
  const answer = Buffer.from('\0\xff for 0273330000')
  await shop.db.rows(
    sql`update deliveries set last_answer = ${answer} where tx_reference = ${paid.tx_reference}`,
  )
  expect((await exportAll('0273330000')).mentions).toMatchObject([{ last_answer: answer.toString() }])
  await eraseAll('0273330000')
  expect(
    await shop.db.rows(sql`select last_answer from deliveries where tx_reference = ${paid.tx_reference}`),
  ).toEqual([{ last_answer: null }])
})
