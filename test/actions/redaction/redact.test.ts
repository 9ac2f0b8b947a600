import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sendReceiptAgain } from '../../../src/actions/messages/receipts.ts'
import { closeTask } from '../../../src/actions/payments/closeTask.ts'
import { createRedaction } from '../../../src/actions/redaction/redact.ts'
import { statusRecord } from '../../../src/core/interface/statusRecord.ts'
import type { Payment, PaymentState } from '../../../src/core/payment/payment.ts'
import { type Db, type Query, sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { findPayments } from '../../../src/store/payments/payments.ts'
import { query } from '../../support/database/database.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { lockRows } from '../../support/database/lockRows.ts'
import { after, hours, minutes, no, noon, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { withoutSkipLocked } from '../../support/database/withoutSkipLocked.ts'
import { expireDue } from '../../support/payments/expireDue.ts'

const days = (count: number) => hours(24 * count)
const later = after(days(32))

const payer = {
  name: 'Ama Serwaa Mensah',
  email: 'ama.mensah@mail.example',
  number: '0241234567',
  description: 'Hat for Ama Mensah',
  line_items: [{ name: 'Hat for Ama Mensah', total: '25.00' }],
  extra_customer: 'Ama Mensah, Oxford Street 7',
  success_url: 'https://shop.example/thanks?email=ama.mensah%40mail.example',
  cancelled_url: 'https://shop.example/no?who=Ama+Serwaa+Mensah',
  ipn_url: 'https://shop.example/ipn?phone=%2B233241234567',
}
const traces = /ama|serwaa|mensah|oxford|24[ .-]*123[ .-]*4567/i

let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Kofi Shop')
})
beforeEach(async () => {
  shop.setNow(noon)
  await shop.db.rows(sql`truncate payments, attempts, events, tasks, notifications, deliveries, tries, messages,
    sandbox_charges cascade`)
})
afterAll(() => shop.stop())

let asked = 0
const ask = (fields: Record<string, unknown> = {}) =>
  shop.ask(merchant, { ...payer, invoice_id: `R-${++asked}`, ...fields })

// Every text, in whichever column of whichever table, that tells of the payer.
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
  const rows = await query(shop.url, looks.join(' union '), [traces.source])
  return rows.map(({ place }) => place as string).toSorted()
}

const told: unknown[] = []
const watch = { redacted: () => {}, leftOut: (one: unknown) => void told.push(one) }

async function redactAll(db: Db = shop.db, now = later) {
  told.length = 0
  const redact = createRedaction(db, 31, watch)
  for (let left = -1; left !== 0; ) left = await redact(now)
}

// Nothing is on its way any more.
const endAll = () =>
  shop.db.rows(sql`
    with d as (update deliveries set next_try_at = null, acknowledged_at = ${noon}, tries = 1, last_try = 1,
      last_try_at = ${noon}, last_answer = 'Thanks, Ama Mensah', last_words = 'ama.mensah@mail.example')
    update messages set next_try_at = null, state = 'sent', sent_at = ${noon}`)

const stored = (payment: Payment) => shop.fresh(payment)

// Paid in the end, after an answer that nobody could read, with tries and messages and the provider's own books.
async function everything() {
  const payment = await ask()
  await shop.try(payment, { state: 'unknown', words: 'HTTP 500 for 024 123 4567' })
  shop.setNow(after(minutes(1)))
  const paid = await shop.hear(payment, {
    ...yes,
    psp_response_code: '00',
    psp_response_msg: 'Approved, Ama',
  })
  await shop.db.rows(sql`
    insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, result, words, answer)
    values (${payment.merchant_id}, ${payment.tx_reference}, 1, 1, ${noon}, 1, 'refused', 'Ama', 'Mensah')`)
  const [attempt] = await attemptsOf(shop.db, payment.merchant_id, payment.tx_reference)
  await shop.db.rows(sql`
    insert into sandbox_charges (merchant_id, reference, method, payer, amount, currency, payee, note, ending,
      callback_url, return_url, created_at)
    values (${payment.merchant_id}, ${attempt?.attempt_id}, 'momo', '+233241234567', 1, 'GHS', 'Kofi Shop',
      'Hat for Ama Mensah', 'paid', 'http://a.example', 'http://a.example', ${noon})`)
  await endAll()
  return paid
}

test('nothing of the payer is left in any table; what accounts and a safe retry need is', async () => {
  const before = await everything()
  expect(await found()).toEqual([
    'attempts.instrument',
    'attempts.psp_response_msg',
    'deliveries.last_answer',
    'deliveries.last_words',
    'deliveries.url',
    'events.reason',
    'messages.mailbox',
    'messages.recipient',
    'notifications.body',
    'payments.cancelled_url',
    'payments.description',
    'payments.email',
    'payments.extra',
    'payments.ipn_url',
    'payments.line_items',
    'payments.name',
    'payments.number',
    'payments.psp_response_msg',
    'payments.success_url',
    'sandbox_charges.note',
    'sandbox_charges.payer',
    'tries.answer',
    'tries.words',
  ])
  await redactAll()
  expect(await found()).toEqual([])
  expect(told).toEqual([])
  const kept = {
    ...before,
    name: null,
    email: null,
    number: null,
    description: null,
    line_items: null,
    psp_response_msg: null,
  }
  expect(await stored(before)).toEqual({
    ...kept,
    extra: {},
    success_url: null,
    cancelled_url: null,
    ipn_url: 'https://shop.example/ipn',
    redacted_at: later,
  })
  const [body] = await shop.db.rows<{ body: string }>(sql`select body from notifications`)
  expect(JSON.parse(body?.body ?? '')).toMatchObject({
    invoice_id: before.invoice_id,
    status: 'paid',
    amount: 25,
    extra: { name: null, email: null, mobile_no: null, psp_response_code: '00' },
  })
})

test('the same request still finds its payment, another one meets the conflict, and a status check says nothing of the payer', async () => {
  const payment = await everything()
  await redactAll()
  const again = await shop.ask(merchant, { ...payer, invoice_id: payment.invoice_id })
  expect(again.tx_reference).toBe(payment.tx_reference)
  await expect(
    shop.ask(merchant, { ...payer, invoice_id: payment.invoice_id, name: 'Yaw' }),
  ).rejects.toMatchObject({
    code: 'GW-005',
  })
  const [state] = await findPayments(shop.db, [payment])
  const record = statusRecord(state as PaymentState, later, 'whole')
  expect(record).toMatchObject({
    status: 'paid',
    amount: 25,
    buyer_email: null,
    buyer_phone: null,
    narration: null,
  })
  expect(JSON.stringify(record)).not.toMatch(traces)
})

const whose = ({ tx_reference }: Payment) => sql`where tx_reference = ${tx_reference}`

for (const [what, make] of [
  ['ended a day too late', one => sql`update payments set updated_at = ${after(days(1) + 1)} ${whose(one)}`],
  ['is not paid yet', one => sql`update payments set status = 'awaiting_payment' ${whose(one)}`],
  ['has an attempt whose end nobody knows', one => sql`update attempts set state = 'unknown' ${whose(one)}`],
  [
    'has an open task',
    one => sql`
      insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
      select merchant_id, attempt_id, 'refund', tx_reference, 1, 'GHS', 'Ama', ${noon} from attempts ${whose(one)}`,
  ],
  [
    'has a delivery that is still tried',
    one => sql`update deliveries set next_try_at = ${later} ${whose(one)}`,
  ],
  ['has a message to be sent', one => sql`update messages set next_try_at = ${later} ${whose(one)}`],
] as [string, (one: Payment) => Query][])
  test(`a payment that ${what} keeps its payer, and others do not wait for it`, async () => {
    const open = await everything()
    shop.setNow(noon)
    const other = await everything()
    await shop.db.rows(make(open))
    const before = await found()
    await redactAll()
    expect(await found()).toEqual(before)
    expect(await stored(open)).toMatchObject({
      name: payer.name,
      email: payer.email,
      number: '+233241234567',
    })
    expect(await stored(other)).toMatchObject({ name: null, redacted_at: later })
  })

test('when the task is closed its payer goes too, from what the person wrote as well', async () => {
  const payment = await everything()
  await shop.db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    select merchant_id, attempt_id, 'refund', tx_reference, 2500, 'GHS', 'Paid twice by +233 24 123 4567', ${noon}
    from attempts`)
  await redactAll()
  const closing = { kind: 'refund', note: 'Given back to Ama Mensah, 024-123-4567, bank ref 77-1' } as const
  expect(await closeTask(shop.db, payment, closing, later)).toMatchObject({ done: 'closed' })
  await redactAll()
  expect(await found()).toEqual([])
  const [task] = await shop.db.rows<{ closed_note: string }>(sql`select * from tasks`)
  expect(task?.closed_note).toContain('bank ref 77-1')
})

test('a receipt that was sent again goes with the others, and the story still tells that it was', async () => {
  const payment = await ask()
  await shop.try(payment, yes)
  await shop.db.rows(sql`update messages set next_try_at = null, state = 'sent'`)
  const rules = { smsPrefixes: ['+233'], perRecipient: 10, perMerchant: 10 }
  const again = await sendReceiptAgain(shop.db, payment, { medium: 'sms' }, rules, noon)
  expect(again).toMatchObject({ done: 'queued', number: 2 })
  await redactAll()
  expect(await stored(payment)).toMatchObject({ redacted_at: null }) // it is still on its way
  await endAll()
  await redactAll()
  expect(await found()).toEqual([])
  expect(await shop.db.rows(sql`select from messages`)).toEqual([])
  const events = await shop.db.rows(sql`select reason from events where kind = 'receipt_resent'`)
  expect(events).toEqual([{ reason: 'sms' }])
})

test('money that comes after that is booked and told to the merchant, and nobody is sent a message', async () => {
  const payment = await ask()
  await shop.try(payment, no)
  await endAll()
  await redactAll()
  expect(await stored(payment)).toMatchObject({ status: 'failed', name: null })
  shop.setNow(after(days(40)))
  expect(await shop.hear(payment, yes)).toMatchObject({ status: 'paid', late: true, charged: 2500n })
  const due = await shop.db.rows(sql`select url from deliveries where next_try_at is not null`)
  expect(due).toEqual([{ url: 'https://shop.example/ipn' }])
  expect(await shop.db.rows(sql`select from messages`)).toEqual([])
  await endAll()
  await redactAll(shop.db, after(days(80))) // and what the provider has told with it goes again
  expect(await found()).toEqual([])
  expect(await stored(payment)).toMatchObject({ redacted_at: after(days(80)) })
})

for (const [kind, open] of [
  ['a database that skips', () => shop.db],
  ['a database that refuses to skip', () => withoutSkipLocked(shop.db).db],
] as const)
  test(`a payment that somebody holds is left for the next round: ${kind}`, async () => {
    const held = await everything()
    shop.setNow(noon)
    const other = await everything()
    const letGo = await lockRows(shop.url, 'select from payments where tx_reference = $1', [
      held.tx_reference,
    ])
    await redactAll(open())
    await letGo()
    expect(await stored(other)).toMatchObject({ name: null })
    expect(await stored(held)).toMatchObject({ name: payer.name })
    await redactAll(open())
    expect(await found()).toEqual([])
  })

test('one that cannot be redacted is told of and keeps none of the others; nothing of it is half', async () => {
  const bad = await everything()
  shop.setNow(noon)
  await everything()
  await shop.db.rows(sql`update notifications set body = 'Ama {' where tx_reference = ${bad.tx_reference}`)
  await redactAll()
  expect(told).toMatchObject([{ payments: [{ tx_reference: bad.tx_reference }] }])
  expect(await stored(bad)).toMatchObject({ name: payer.name, redacted_at: null })
  const others = await shop.db.rows(sql`select from payments where name is not null`)
  expect(others).toHaveLength(1)
  const attempts = await shop.db.rows(sql`select from attempts where instrument is not null`)
  expect(attempts).toHaveLength(1)
})

test('a connection that dies in the middle leaves nothing half, and the same round does it again', async () => {
  const payment = await everything()
  await query(
    shop.url,
    `create sequence deaths;
     create function die() returns trigger language plpgsql as $$ begin
       if nextval('deaths') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
       return old;
     end $$;
     create trigger die before delete on messages for each row execute function die()`,
  )
  try {
    await redactAll()
  } finally {
    await query(shop.url, 'drop function die cascade; drop sequence deaths')
  }
  expect(await found()).toEqual([])
  expect(await stored(payment)).toMatchObject({ redacted_at: later })
})

test('what the time has ended by the hundred goes in several batches, each payment once', async () => {
  for (let n = 0; n < 7; n++) await ask({ ipn_url: undefined })
  await shop.db.rows(sql`
    insert into payments select (p.p).* from (select jsonb_populate_record(q, jsonb_build_object(
      'tx_reference', q.tx_reference || '-' || n, 'invoice_id', q.invoice_id || '-' || n,
      'tx_token', q.tx_token || n)) as p from payments q, generate_series(1, 70) n) p`)
  while ((await expireDue(shop.db, after(hours(2)))) > 0);
  const counts: number[] = []
  const redact = createRedaction(shop.db, 31, { ...watch, redacted: count => void counts.push(count) })
  for (let left = -1; left !== 0; ) left = await redact(later)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(7 * 71)
  expect(counts.length).toBeGreaterThan(2)
  expect(await redact(later)).toBe(0)
  expect(await found()).toEqual([])
})
