// What one merchant has after two million payments, made in SQL from the number n of a payment. They are spread over
// thirty days up to a moment; references sort by time, as those of the product do.
import { query } from './database.js'
import { bodyInSql, literal } from './deliveries.js'

export const days = 30
const outlets = 20
const rare = 5 // the first payments of an outlet that has no others, and those whose notification failed

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const spelt = ms =>
  Array.from({ length: 9 }, (_, at) => `substr('${digits}', (${ms} >> ${(8 - at) * 5} & 31)::int + 1, 1)`)

// The reference of the row with the number n at the time `at`. Without OFFSET the parts would be computed for each use.
export const keyInSql = `lateral (select (extract(epoch from at) * 1000)::bigint as ms offset 0) m,
  lateral (select ${spelt('ms').join(' || ')} || lpad((n % 1000000)::text, 9, '0') as key offset 0) k,
  lateral (select 'TG-' || substr(key, 1, 6) || '-' || substr(key, 7, 6) || '-' || substr(key, 13) as reference) r`

// Of the row with the number n, among `count`, at its time.
export const rowsOf = (count, end) => `from generate_series(1, ${count}) n,
  lateral (select ${literal(end.toISOString())}::timestamptz - (${count} - n) * (interval '${days} days' / ${count}) as at) t,
  ${keyInSql}`

// Half a million customers; every second payment has the address of the shop instead of the customer's.
const numberInSql = `'+23324' || lpad((n % 500000)::text, 7, '0')`

const status = `case when n % 10 = 0 then 'failed' when n % 10 = 1 then 'cancelled' else 'paid' end`

export async function fillLists(url, merchant_id, count, end) {
  const rows = rowsOf(count, end)
  const mine = literal(merchant_id)
  const body = await bodyInSql()
  for (const text of [
    `insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency, success_url,
        ipn_url, number, email, name, description, outlet, request_digest, created_at, updated_at, expires_at,
        payment_method, payment_instrument, payment_reference, payment_time, charged)
      select ${mine}, reference, 'test', 'INV-' || n, ${mine} || lower(substr(key, 1, 6)) || substr(md5(n::text), 1, 26),
        ${status}, 2550, 'GHS', 'https://shop.example/thanks', 'https://shop.example/ipn', ${numberInSql},
        case when n % 2 = 0 then 'shop@mail.example' else 'c' || n % 500000 || '@mail.example' end, 'Ama Mensah', 'Two straw hats and a basket',
        case when n <= ${rare} then 'RARE' else 'OUT-' || n % ${outlets} end, sha256(n::text::bytea), at, at,
        at + interval '1 hour', 'mtn_mobile_money', '+233 24 *** **67', 'MP' || n, at, 2550 ${rows}`,
    `insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at, position)
      select ${mine}, reference, 1, 'test', ${status}, ${body}, at, null ${rows}`,
    `insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, alone, created_at, begun_at,
        tries, acknowledged_at, exhausted_at, last_try, last_try_at, last_ms, last_address, last_status, last_result,
        last_words, last_answer)
      select ${mine}, reference, 1, 'test', 'https://shop.example/ipn', 'https://shop.example', 'post', true, at, at, 1,
        case when n > ${rare} then at end, case when n <= ${rare} then at end, 1, at, 12, '192.0.2.7', 200,
        case when n > ${rare} then 'acknowledged' else 'refused' end, '', 'ok' ${rows}`,
  ])
    await query(url, text)
}

// The attempts of these payments, one each, for the search by wallet and by the provider's reference.
export const fillAttempts = (url, merchant_id, count, end) =>
  query(
    url,
    `insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, instrument,
        payer, lang, provider_ref, charged, polls, created_at, updated_at, ended_at)
      select ${literal(merchant_id)}, ${literal(merchant_id)} || substr(md5(n::text), 1, 26), reference, 1, 'sandbox',
        'mtn_mobile_money', case when n % 10 < 2 then 'failed' else 'paid' end, ${numberInSql}, md5((n % 50000)::text), 'en',
        'MP' || n, 2550, 2, at, at, at ${rowsOf(count, end)}`,
  )

// The transfers of these payments, one for each that is paid.
export const fillLedger = (url, merchant_id, count, end) =>
  query(
    url,
    `insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
        tx_reference, attempt_id, happened_at, created_at)
      select ${literal(merchant_id)}, reference || '/1/charge', 'test', 'GHS', 'provider:sandbox', 'merchant', 2550, 'charge',
        reference, ${literal(merchant_id)} || substr(md5(n::text), 1, 26), at, at ${rowsOf(count, end)}
      where n % 10 >= 2`,
  )
