// The payments of one merchant while it grows, made in SQL from the number n of a payment: half a second after the one before,
// each with what it leaves behind. A payment is initiated, paid at the first attempt by four of five, notified and
// acknowledged. Only rows that are not there yet are added.
import { query } from './database.js'
import { literal } from './deliveries.js'
import { keyInSql } from './lists.js'
import { withoutIndexes } from './withoutIndexes.js'

const customers = 500_000
const outlets = 20
const gap = `interval '500 milliseconds'`
const allTables = `('payments', 'attempts', 'paid_references', 'events', 'notifications', 'deliveries', 'transfers')`

const total = `case when n % 4 = 0 then 2550 else 500 + 50 * (n::bigint * 7919 % 9973) end`
const status = `case n % 10 when 0 then 'failed' when 9 then 'cancelled' else 'paid' end`
const isPaid = 'n % 10 between 1 and 8'
const number = `'+23324' || lpad((n % ${customers})::text, 7, '0')`
const email = `case when n % 2 = 0 then 'shop@mail.example' else 'c' || n % ${customers} || '@mail.example' end`
const name = `(array['Ama Mensah', 'Kofi Owusu', 'Yaa Asante', 'Kwame Addo', 'Esi Quaye'])[1 + n % 5]`
const ended = `at + interval '30 seconds'`
const body = `'{"invoice_id":"INV-' || n || '","status":"' || ${status} || '","description":"' || repeat('x', 400) || '"}'`

/** @type {(url: string, merchant_id: string, range: { from: number, to: number, begin: Date }) => Promise<void>} */
export async function grow(url, merchant_id, { from, to, begin }) {
  const mine = literal(merchant_id)
  const attempt = `${mine} || lower(substr(key, 1, 9)) || lpad(n::text, 17, '0')`
  const token = `${mine} || substr(lpad(n::text, 18, '0'), 1, 16) || substr(md5(n::text), 1, 13) || '000'`
  const rows = `from generate_series(${from}, ${to}) n,
    lateral (select ${literal(begin.toISOString())}::timestamptz + n * ${gap} as at) t, ${keyInSql}`
  const texts = [
    `insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency, success_url, ipn_url,
        number, email, name, description, outlet, request_digest, created_at, updated_at, expires_at, payment_method,
        payment_instrument, payment_reference, payment_time, charged, paid_attempt_id)
      select ${mine}, reference, 'test', 'INV-' || n, ${token}, ${status}, ${total}, 'GHS', 'https://shop.example/thanks',
        'https://shop.example/ipn', ${number}, ${email}, ${name}, 'Two straw hats and a basket', 'OUT-' || n % ${outlets},
        sha256(n::text::bytea), at, ${ended}, at + interval '1 hour', 'mtn_mobile_money', '+233 24 *** **67', 'MP' || n,
        ${ended}, ${total}, ${attempt} ${rows}`,
    `insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
        instrument, payer, lang, provider_ref, charged, polls, created_at, updated_at, ended_at)
      select ${mine}, ${attempt}, reference, 1, 'sandbox', 'test', 'mtn_mobile_money',
        case when ${isPaid} then 'paid' else 'failed' end, ${number}, md5((n % 50000)::text), 'en', 'MP' || n, ${total}, 2, at,
        ${ended}, ${ended} ${rows}`,
    `insert into paid_references (account, reference, merchant_id, attempt_id)
      select 'sandbox', 'MP' || n, ${mine}, ${attempt} ${rows} where ${isPaid}`,
    `insert into events (merchant_id, tx_reference, sequence, kind, cause, attempt_id, from_status, to_status, at)
      select ${mine}, reference, step, (array['attempt_started', 'status_changed'])[step], 'provider', ${attempt},
        case when step = 2 then 'awaiting_payment' end, case when step = 2 then ${status} end, ${ended}
      ${rows}, generate_series(1, 2) step`,
    `insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at)
      select ${mine}, reference, 1, 'test', ${status}, ${body}, ${ended} ${rows}`,
    `insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, alone, created_at, begun_at, tries,
        acknowledged_at)
      select ${mine}, reference, 1, 'test', 'https://shop.example/ipn', 'https://shop.example', 'post', true, ${ended},
        ${ended}, 1, ${ended} ${rows}`,
    `insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
        tx_reference, attempt_id, happened_at, created_at)
      select ${mine}, reference || '/1/charge', 'test', 'GHS', 'provider:sandbox', 'merchant', ${total}, 'charge', reference,
        ${attempt}, ${ended}, ${ended} ${rows} where ${isPaid}`,
  ]
  await withoutIndexes(url, async () => {
    for (const text of texts) await query(url, `set synchronous_commit = off; ${text}`)
  })
  await query(url, 'vacuum analyze')
  await query(url, 'checkpoint')
}

// Bytes of all rows and of all indexes of these payments.
export async function sizes(url) {
  const [row] = await query(
    url,
    `select sum(pg_table_size(relid))::float8 as rows, sum(pg_indexes_size(relid))::float8 as indexes
      from pg_stat_user_tables where relname in ${allTables}`,
  )
  return row
}
