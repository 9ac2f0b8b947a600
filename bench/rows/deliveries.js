// What is delivered: the same ids, addresses and bytes for everybody, made in SQL from the number n of a row.
import { query, truncate } from './database.js'
import { thisVersion } from '../version.js'

const at = { ref: '@reference@', n: '@n@' } // where a body differs from row to row

export const literal = text => `'${text.replaceAll("'", "''")}'`
export const reference = `'TG-' || lpad((n / 1000000)::text, 6, '0') || '-' || lpad((n % 1000000)::text, 6, '0') || '-000001'`
const anyOf = (list, n = 'n') => `(array[${list.map(literal).join(', ')}])[1 + ${n} % ${list.length}]`

// A card payment with all fields: some 600 bytes.
export async function bodyInSql() {
  const [{ notificationBody }] = await thisVersion.load('core/notification/notification')
  const body = notificationBody(
    /** @type {any} */ ({
      invoice_id: `INV-${at.n}`,
      tx_reference: at.ref,
      status: 'paid',
      total: 2550n,
      status_reason: 'The payment was approved.',
      payment_method: 'card',
      payment_time: new Date('2026-01-01T12:00:00Z'),
      currency: 'GHS',
      email: 'ama.mensah@mail.example',
      name: 'Ama Mensah',
      number: '+233241234000',
      card_type: 'visa',
      psp_response_code: '00',
      psp_response_msg: 'Approved',
      wallet_issuer_hint: null,
      extra: { order: 'Two straw hats and a basket', shop: 'Osu, Oxford Street', desk: '4' },
    }),
    'post',
  )
  return `replace(replace(${literal(body)}, '${at.ref}', ${reference}), '${at.n}', n::text)`
}

// A job of a rival: where to, the id, and the bytes.
export const jobInSql = (body, urls) =>
  `jsonb_build_object('url', ${anyOf(urls)}, 'id', ${reference} || '-N1', 'body', ${body})`

// What the rows from number `from` to `to` have in common, whether they are due or done.
const rowsSql = (body, { merchants, urls }, { from = 1, to, age }, columns, values) => {
  const key = `${anyOf(merchants)}, ${reference}, 1, 'test'`
  const numbers = `from generate_series(${from}, ${to}) n,
    lateral (select now() - interval '${age}' + (n - ${from}) * interval '1 microsecond' as at) t`
  return [
    `insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at)
      select ${key}, 'paid', ${body}, at ${numbers}`,
    `insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, alone, created_at, begun_at,
        ${columns})
      select ${key}, ${anyOf(urls)}, ${anyOf(urls.map(laneOf))}, 'post', true, at, at, ${values} ${numbers}`,
  ]
}

const laneOf = url => new URL(url).origin

// Deliveries that are due, oldest first and one merchant after the other.
export const dueSql = (body, dataset, range) =>
  rowsSql(body, dataset, { age: '1 minute', ...range }, 'next_try_at', 'at')

// Deliveries that were acknowledged at their first try, days ago, with the log of it: the last try is in the row.
export const finishedSql = (body, dataset, range) =>
  rowsSql(
    body,
    dataset,
    { age: '3 days', ...range },
    `tries, acknowledged_at, last_try, last_try_at, last_ms, last_address, last_status,
      last_result, last_words, last_answer`,
    `1, at, 1, at, 12, '127.0.0.1', 200, 'acknowledged', '', 'ok'`,
  )

const tables = 'notifications, deliveries, tries'

export const empty = url => truncate(url, `truncate ${tables}`)

export async function add(url, statements) {
  for (const text of statements) await query(url, text)
  await query(url, `vacuum analyze ${tables}`)
  await query(url, 'checkpoint')
}

export const leftSql = 'select count(*)::int as left from deliveries where next_try_at is not null'
