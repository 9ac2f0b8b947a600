import { afterAll, beforeAll, expect, test } from 'vitest'
import { beginErasing, eraseStep } from '../../../src/actions/redaction/erasePerson.ts'
import { createRedaction } from '../../../src/actions/redaction/redact.ts'
import type { Person } from '../../../src/core/redaction/redact.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { query } from '../../support/database/database.ts'
import { after, hours, noon, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

// Every text of the schema either is planted with a person's number, email address and name, or is listed here with the
// reason why it never has them. A new column fails the test until it is decided: list it, or remove its text in
// src/actions/redaction.
const ids = 'ids, enumerations, codes and references of the gateway'
const exempt: Readonly<Record<string, string>> = {
  merchants: 'settings and secrets of a merchant',
  merchant_keys: ids,
  ipn_secrets: ids,
  outlets: 'names of places',
  merchant_logos: ids,
  provider_accounts: 'settings and secrets of the operator',
  provider_businesses: ids,
  provider_health: 'counts; errors and codes are masked when they are stored',
  provider_tokens: ids,
  paid_references: ids,
  feeds: ids,
  acknowledged_paths: 'digests, and the host of a shop',
  installation_secrets: ids,
  installation: 'about the database',
  installation_addresses: 'about the database',
  support_links: ids,
  migrations: ids,
  refused_counts: ids,
  sandbox_refunds: ids,
  transfers: 'sealed; ids, and reasons that the gateway writes',
  ledger_snapshots: ids,
  ledger_searches: ids,
  ledger_seals: ids,
  closing_progress: ids,
  closing_totals: ids,
  report_periods: ids,
  report_totals: ids,
  report_progress: ids,
  late_changes: ids,
  users: 'accounts of the dashboard, which are closed and not erased',
  memberships: ids,
  user_sessions: 'browsers of users of the dashboard, until the session ends',
  passkeys: ids,
  user_links: 'invitations of users of the dashboard, until they expire',
  user_mails: 'mails to users of the dashboard, until they are sent',
  used_challenges: ids,
  audit_entries: 'sealed; ids only',
  taken_payments: ids,
  node_minutes: 'counts',
  nodes: 'about processes',
  key_handovers: ids,
  backups: ids,
  notifications: ids,
  refused_requests: 'masked when it is stored',
  'payments.merchant_id': ids,
  'payments.tx_reference': ids,
  'payments.mode': ids,
  'payments.invoice_id': 'the id of the merchant, which stays',
  'payments.tx_token': ids,
  'payments.status': ids,
  'payments.status_reason': 'a sentence of the gateway',
  'payments.currency': ids,
  'payments.outlet': ids,
  'payments.wallet_issuer_hint': ids,
  'payments.request_digest': 'a digest',
  'payments.traceparent': 'random ids of a trace',
  'payments.payment_method': ids,
  'payments.payment_reference': 'the reference of the provider, which stays',
  'payments.card_type': ids,
  'payments.psp_response_code': ids,
  'payments.left_by': ids,
  'payments.paid_attempt_id': ids,
  'attempts.merchant_id': ids,
  'attempts.attempt_id': ids,
  'attempts.tx_reference': ids,
  'attempts.provider_account': ids,
  'attempts.mode': ids,
  'attempts.account_identity': ids,
  'attempts.idempotency_key': ids,
  'attempts.payment_method': ids,
  'attempts.state': ids,
  'attempts.reason': ids,
  'attempts.lang': ids,
  'attempts.provider_ref': 'the reference of the provider, which stays',
  'attempts.card_type': ids,
  'attempts.psp_response_code': ids,
  'attempts.provider_code': ids,
  'attempts.gave_up_for': ids,
  'attempts.charged_currency': ids,
  'reversals.merchant_id': ids,
  'reversals.attempt_id': ids,
  'reversals.reversal_id': 'the reference of the provider, which stays',
  'reversals.tx_reference': ids,
  'reversals.currency': ids,
  'reversals.refund_reference': ids,
  'disputes.merchant_id': ids,
  'disputes.attempt_id': ids,
  'disputes.dispute_id': 'the reference of the provider, which stays',
  'disputes.tx_reference': ids,
  'disputes.state': ids,
  'disputes.currency': ids,
  'events.merchant_id': ids,
  'events.tx_reference': ids,
  'events.kind': ids,
  'events.cause': ids,
  'events.attempt_id': ids,
  'events.from_status': ids,
  'events.to_status': ids,
  'tasks.merchant_id': ids,
  'tasks.attempt_id': ids,
  'tasks.kind': ids,
  'tasks.tx_reference': ids,
  'tasks.currency': ids,
  'tasks.owner': 'the id of a user',
  'deliveries.merchant_id': ids,
  'deliveries.tx_reference': ids,
  'deliveries.mode': ids,
  'deliveries.lane': 'a digest, and the host of a shop',
  'deliveries.style': ids,
  'deliveries.lease_token': ids,
  'deliveries.last_result': ids,
  'refunds.merchant_id': ids,
  'refunds.refund_reference': ids,
  'refunds.refund_id': 'the id of the merchant, which stays',
  'refunds.mode': ids,
  'refunds.tx_reference': ids,
  'refunds.invoice_id': 'the id of the merchant, which stays',
  'refunds.attempt_id': ids,
  'refunds.source': ids,
  'refunds.kind': ids,
  'refunds.provider_account': ids,
  'refunds.account_identity': ids,
  'refunds.idempotency_key': ids,
  'refunds.currency': ids,
  'refunds.requested_by': ids,
  'refunds.operator': 'the account of an operator',
  'refunds.state': ids,
  'refunds.provider_ref': 'the reference of the provider, which stays',
  'refunds.recorded_by': 'the account of an operator',
  'refund_approvals.merchant_id': ids,
  'refund_approvals.refund_reference': ids,
  'refund_approvals.mode': ids,
  'refund_approvals.tx_reference': ids,
  'refund_approvals.invoice_id': 'the id of the merchant, which stays',
  'refund_approvals.source': ids,
  'refund_approvals.currency': ids,
  'refund_approvals.requested_by': ids,
  'refund_approvals.requester_id': 'the id of a user',
  'refund_approvals.state': ids,
  'refund_approvals.decider_id': 'the id of a user',
  'sandbox_charges.merchant_id': ids,
  'sandbox_charges.reference': ids,
  'sandbox_charges.method': ids,
  'sandbox_charges.currency': ids,
  'sandbox_charges.payee': 'the name of the merchant',
  'sandbox_charges.ending': ids,
  'sandbox_charges.decided': ids,
  'sandbox_charges.callback_url': 'an address of the gateway',
  'sandbox_charges.return_url': 'an address of the gateway',
  'sandbox_charges.card_type': ids,
  'sandbox_charges.card_last4': 'four digits',
}
// Rows of the payer that are deleted whole, whatever is in their columns.
const deleted = new Set(['tries', 'messages'])

const planted =
  'Ama Serwaa Mensah, +233241234567, 0241234567, 024 123 4567, 00233-24-123-4567, ama.mensah@mail.example'
const traces = 'serwaa|mensah|24[ .-]*123[ .-]*4567'
const address = `https://shop.example/ipn/0241234567?who=${encodeURIComponent(planted)}`

// Columns that the gateway reads, so that only some texts are possible.
const values: Readonly<Record<string, string>> = {
  'payments.number': '+233241234567',
  'payments.email': 'ama.mensah@mail.example',
  'payments.name': 'Ama Serwaa Mensah',
  'payments.pymt_instrument': '+233241234567',
  'payments.success_url': address,
  'payments.cancelled_url': address,
  'payments.deferred_url': address,
  'payments.ipn_url': address,
  'attempts.instrument': '+233241234567',
  'deliveries.url': address,
  'notifications.body': JSON.stringify({
    type: 'refund',
    invoice_id: 'C-1',
    reason: planted,
    status_reason: planted,
    state_reason: planted,
    extra: { name: planted, order_note: planted },
  }),
}

type Column = { table_name: string; column_name: string; data_type: string }
const nameOf = ({ table_name, column_name }: Column) => `${table_name}.${column_name}`

let shop: TestShop
let all: Column[]
let toPlant: Column[]
beforeAll(async () => {
  shop = await openShop()
  all = (await query(
    shop.url,
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = 'public' and data_type in ('text', 'jsonb', 'json', 'bytea', 'character varying', 'ARRAY')
       and not (data_type = 'ARRAY' and udt_name not in ('_text', '_varchar', '_jsonb', '_bytea'))
     order by table_name, ordinal_position`,
  )) as Column[]
  toPlant = all.filter(
    column =>
      nameOf(column) === 'notifications.body' ||
      !(column.table_name in exempt || nameOf(column) in exempt || deleted.has(column.table_name)),
  )
})
afterAll(() => shop.stop())

const textIn = ({ column_name, data_type }: Column) =>
  data_type === 'bytea' ? `encode(${column_name}, 'escape')` : `${column_name}::text`

async function found(): Promise<string[]> {
  const looks = all.map(
    column =>
      `select '${nameOf(column)}' as place from ${column.table_name} where ${textIn(column)} ~* '${traces}'`,
  )
  const rows = await query(shop.url, looks.join(' union '))
  return rows.map(({ place }) => place as string).toSorted()
}

const plantedValue = (column: Column) => {
  const text = values[nameOf(column)] ?? planted
  if (column.data_type === 'jsonb')
    return `jsonb_build_object('note', '${text}', 'list', jsonb_build_array('${text}'))`
  if (column.data_type === 'bytea') return `convert_to('${text}', 'UTF8')`
  return `'${text}'`
}

let asked = 0
// A payment of the person with a row in every table about payments, and the person in every text of them.
async function plantEverywhere(): Promise<Payment> {
  await query(
    shop.url,
    `truncate payments, attempts, events, tasks, notifications, deliveries, tries, messages, refunds,
    refund_approvals, reversals, disputes, sandbox_charges cascade`,
  )
  const merchant = await shop.addMerchant('Kofi Shop')
  shop.setNow(noon)
  const payment = await shop.try(
    await shop.ask(merchant, {
      name: 'Ama Serwaa Mensah',
      email: 'ama.mensah@mail.example',
      number: '0241234567',
      ipn_url: address,
      invoice_id: `C-${++asked}`,
    }),
    yes,
  )
  const { merchant_id, tx_reference } = payment
  const own = `from attempts where tx_reference = '${tx_reference}'`
  for (const row of [
    `insert into refunds (merchant_id, refund_reference, refund_id, mode, tx_reference, invoice_id, attempt_id, source, kind,
      provider_account, amount, currency, requested_by, state, created_at, updated_at, ended_at)
     select merchant_id, merchant_id || 'refund', 'R-1', 'live', tx_reference, 'C', attempt_id, 'payment', 'provider',
      provider_account, 100, 'GHS', 'merchant', 'succeeded', now(), now(), now() ${own}`,
    `insert into refund_approvals (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_number, source,
      amount, currency, requested_by, requester_id, state, created_at, expires_at)
     select merchant_id, merchant_id || 'asked', 'live', tx_reference, 'C', 1, 'payment', 100, 'GHS', 'merchant', 'u',
      'rejected', now(), now() ${own}`,
    `insert into reversals (merchant_id, attempt_id, reversal_id, tx_reference, amount, currency, reversed_at, created_at)
     select merchant_id, attempt_id, 'r', tx_reference, 1, 'GHS', now(), now() ${own}`,
    `insert into disputes (merchant_id, attempt_id, dispute_id, tx_reference, state, amount, currency, opened_at)
     select merchant_id, attempt_id, 'd', tx_reference, 'won', 1, 'GHS', now() ${own}`,
    `insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, created_at, closed_at)
     select merchant_id, attempt_id, 'refund', tx_reference, 1, 'GHS', now(), now() ${own}`,
    `insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, result, words, answer)
     values ('${merchant_id}', '${tx_reference}', 1, 1, now(), 1, 'refused', '${planted}', '${planted}')`,
    `insert into sandbox_charges (merchant_id, reference, method, amount, currency, payee, ending, callback_url, return_url,
      created_at)
     select merchant_id, coalesce(idempotency_key, attempt_id), 'momo', 1, 'GHS', 'Kofi Shop', 'paid', '', '', now() ${own}`,
    `insert into events (merchant_id, tx_reference, sequence, kind, cause, at)
     select '${merchant_id}', '${tx_reference}', 90 + n, kind, 'operator', now()
     from unnest(array['task_closed', 'refunded', 'receipt_resent']) with ordinality as k (kind, n)`,
    `update deliveries set next_try_at = null, acknowledged_at = now()`,
    `update messages set next_try_at = null, state = 'sent'`,
    `update payments set refunded_amount = 100 where tx_reference = '${tx_reference}'`,
  ])
    await query(shop.url, row)
  for (const column of toPlant)
    await query(shop.url, `update ${column.table_name} set ${column.column_name} = ${plantedValue(column)}`)
  return payment
}

test('only tables and columns that exist are exempt', () => {
  const tables = new Set(all.map(({ table_name }) => table_name))
  const columns = new Set(all.map(nameOf))
  const unknown = Object.keys(exempt).filter(name => !tables.has(name) && !columns.has(name))
  expect(unknown).toEqual([])
})

const actor = { kind: 'command', id: 'root', address: 'host' } as const

async function eraseAll(person: Person) {
  const now = after(hours(3))
  let erasing = await beginErasing(shop.db, person, actor, now)
  while (erasing.place) erasing = await eraseStep(shop.db, erasing, actor, now)
  expect(erasing.kept).toEqual([])
}

for (const [what, remove] of [
  ['an erasure by number', () => eraseAll({ kind: 'phone', value: '+233241234567' })],
  ['an erasure by email', () => eraseAll({ kind: 'email', value: 'ama.mensah@mail.example' })],
  [
    'the retention',
    async () => {
      const watch = { redacted: () => {}, leftOut: (row: unknown) => expect(row).toBeUndefined() }
      const redact = createRedaction(shop.db, 31, watch)
      for (let left = -1; left !== 0; ) left = await redact(after(hours(24 * 40)))
    },
  ],
] as const)
  test(`${what} leaves nothing of the person in any column; amounts and references stay`, async () => {
    const payment = await plantEverywhere()
    const places = await found()
    expect(toPlant.map(nameOf).filter(name => !places.includes(name))).toEqual([])
    const before = await shop.fresh(payment)
    await remove()
    expect(await found()).toEqual([])
    const { total, status, payment_reference, invoice_id, charged } = before
    expect(await shop.fresh(payment)).toMatchObject({ total, status, payment_reference, invoice_id, charged })
  })
