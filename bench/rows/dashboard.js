// What the dashboard shows of a merchant that has taken payments for 400 days, made in SQL from the number n of a payment.
// Half of them are of the last thirty days, so the present days are as busy as those of a merchant with twice as many.
// Invoice ids have three beginnings, and customers, amounts, methods, outlets and names repeat, so that a filter or a search
// finds none, few or very many.
import { query } from './database.js'
import { literal } from './deliveries.js'
import { keyInSql } from './lists.js'
import { withoutIndexes } from './withoutIndexes.js'

const [recentDays, allDays] = [30, 400]
const outlets = 20
const customers = 500_000
const open = 40 // the newest payments still wait for their customers
const rare = 5 // the first payments of an outlet that has no others

// The number, time and reference of each payment are computed once.
const numberRows = (count, end) => {
  const recent = Math.floor(count / 2)
  const older = count - recent
  return `drop table if exists numbered; create unlogged table numbered as
  select n, at, key, reference from generate_series(1, ${count}) n,
  lateral (select ${literal(end.toISOString())}::timestamptz - case when n > ${older}
    then (${count} - n) * (interval '${recentDays} days' / ${recent})
    else interval '${recentDays} days' + (${older} - n) * (interval '${allDays - recentDays} days' / ${older}) end as at) t,
  ${keyInSql}`
}
const rows = 'from numbered'

const anyOf = (list, n) => `(array[${list.map(literal).join(', ')}])[1 + (${n}) % ${list.length}]`

const firstNames =
  'Ama Kofi Yaa Kwame Akua Kojo Esi Yaw Abena Kwesi Adjoa Kwaku Afia Fiifi Efua Nana Serwaa Kobina Araba Ebo'
const lastNames =
  'Mensah Owusu Boateng Asante Osei Appiah Addo Agyeman Ofori Amoah Darko Antwi Baidoo Quaye Tetteh'

const number = `'+23324' || lpad((n % ${customers})::text, 7, '0')`
const name = `${anyOf(firstNames.split(' '), 'n / 7')} || ' ' || ${anyOf(lastNames.split(' '), 'n / 11')}`
const email = `case when n % 2 = 0 then 'shop@mail.example' else 'c' || n % ${customers} || '@mail.example' end`
const invoice = `case n % 3 when 0 then 'INV-' || n when 1 then 'SHOP-2026-' || lpad(n::text, 9, '0') else 'WEB/' || n end`
const total = `case when n % 4 = 0 then 2550 else 500 + 50 * (n::bigint * 7919 % 9973) end`
const method = anyOf(
  ['mtn_mobile_money', 'mtn_mobile_money', 'mtn_mobile_money', 'telecel_cash', 'airteltigo_money', 'card'],
  'n / 10',
)
const outlet = `case when n <= ${rare} then 'RARE' else 'OUT-' || n % ${outlets} end`
const isRefunded = 'n % 100 = 7'
const refunded = 500

/** @type {(url: string, of: { merchant_id: string, user_id: string }, count: number, end: Date) => Promise<void>} */
export async function fillDashboard(url, { merchant_id, user_id }, count, end) {
  const mine = literal(merchant_id)
  const isOpen = `n > ${count - open}`
  const status = `case when ${isOpen} then 'awaiting_payment' when n % 10 = 0 then 'failed' when n % 10 = 1 then 'cancelled'
    else 'paid' end`
  const isPaid = `(n % 10 >= 2 and not ${isOpen})`
  const ended = `at + interval '30 seconds'`
  const isRemembered = `at > ${literal(end.toISOString())}::timestamptz - interval '30 days'`
  const remembered = value => `case when ${isRemembered} then ${value} end`
  const attempt = `${mine} || substr(md5(n::text), 1, 26)`
  const refund = `${mine} || substr(md5('refund ' || n), 1, 26)`
  const transfer = (cause, kind, debit, credit, amount, more = '') => `
    insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
        tx_reference, attempt_id, happened_at, created_at)
      select ${mine}, reference || ${cause}, 'test', 'GHS', ${literal(debit)}, ${literal(credit)}, ${amount},
        ${literal(kind)}, reference, ${attempt}, ${ended}, ${ended} ${rows} where ${isPaid} ${more}`
  await query(url, numberRows(count, end))
  const texts = [
    `insert into outlets (merchant_id, code, name, created_at)
      select ${mine}, 'OUT-' || n, 'Branch ' || n, now() from generate_series(0, ${outlets - 1}) n`,
    `insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, status_reason, total, currency,
        success_url, ipn_url, number, email, name, description, outlet, request_digest, created_at, updated_at, expires_at,
        payment_method, payment_instrument, payment_reference, payment_time, charged, paid_attempt_id, refunded_amount)
      select ${mine}, reference, 'test', ${invoice}, ${mine} || lower(substr(key, 1, 6)) || substr(md5(n::text), 1, 26),
        ${status}, case n % 10 when 0 then 'The customer had too little money.' when 1 then 'The customer cancelled.' else '' end,
        ${total}, 'GHS', 'https://shop.example/thanks', 'https://shop.example/ipn', ${number}, ${email}, ${name},
        'Two straw hats and a basket', ${outlet}, sha256(n::text::bytea), at, ${ended}, at + interval '1 hour',
        case when not ${isOpen} then ${method} end, case when ${isPaid} then '+233 24 *** **67' end,
        case when ${isPaid} then 'MP' || n end, case when ${isPaid} then ${ended} end, case when ${isPaid} then ${total} end,
        case when ${isPaid} then ${attempt} end, case when ${isPaid} and ${isRefunded} then ${refunded} end ${rows}`,
    `insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
        instrument, payer, lang, provider_ref, charged, polls, created_at, updated_at, ended_at)
      select ${mine}, ${attempt}, reference, 1, 'sandbox', 'test', ${method},
        case when n % 10 < 2 then 'failed' else 'paid' end, ${number}, md5((n % 50000)::text), 'en', 'MP' || n,
        case when ${isPaid} then ${total} end, 2, at, ${ended}, ${ended} ${rows} where not ${isOpen}`,
    `insert into paid_references (account, reference, merchant_id, attempt_id)
      select 'sandbox', 'MP' || n || ${mine}, ${mine}, ${attempt} ${rows} where ${isPaid}`,
    `insert into events (merchant_id, tx_reference, sequence, kind, cause, attempt_id, from_status, to_status, at)
      select ${mine}, reference, step, (array['attempt_started', 'status_changed'])[step], 'provider',
        ${attempt}, case when step = 2 then 'awaiting_payment' end, case when step = 2 then ${status} end, ${ended}
      ${rows}, generate_series(1, 2) step where not ${isOpen}`,
    `insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at, position)
      select ${mine}, reference, 1, 'test', ${status}, '{"invoice_id":"' || ${invoice} || '"}', ${ended}, null ${rows} where not ${isOpen}`,
    `insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, alone, created_at, begun_at,
        tries, acknowledged_at, exhausted_at, last_try, last_try_at, last_ms, last_address, last_status, last_result,
        last_words, last_answer)
      select ${mine}, reference, 1, 'test', 'https://shop.example/ipn', 'https://shop.example', 'post', true, ${ended},
        ${ended}, 1, case when n % 5000 <> 4 then ${ended} end, case when n % 5000 = 4 then ${ended} + interval '1 day' end,
        ${remembered(1)}, ${remembered(ended)}, ${remembered(12)}, ${remembered(`'192.0.2.7'`)},
        ${remembered('case when n % 5000 = 4 then 503 else 200 end')},
        ${remembered(`case when n % 5000 = 4 then 'refused' else 'acknowledged' end`)}, '', ${remembered(`'ok'::bytea`)}
      ${rows} where not ${isOpen}`,
    `insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, answer)
      select ${mine}, reference, 1, 1, ${ended}, 12, '192.0.2.7', 503, 'refused', 'busy' ${rows}
      where n % 10 = 0 and ${isRemembered} and not ${isOpen}`,
    `insert into messages (merchant_id, message_id, mode, medium, topic, recipient, mailbox, lang, tx_reference, state, words,
        tries, messenger, provider_ref, created_at, sent_at, ended_at)
      select ${mine}, reference || '-paid-email', 'test', 'email', 'paid', ${email}, ${email}, 'en', reference,
        case when n % 5000 = 2 then 'dropped' else 'sent' end, '', 1, 'inbox', null, ${ended}, ${ended}, ${ended} ${rows}
      where ${isPaid} and n % 4 = 2`,
    transfer(`'/1/charge'`, 'charge', 'provider:sandbox', 'merchant', total),
    transfer(`'/1/gateway_fee'`, 'gateway_fee', 'merchant', 'gateway_fees', 25, 'and n % 4 = 0'),
    transfer(
      `'/refund/' || n`,
      'refund_requested',
      'merchant',
      'refunds_pending',
      refunded,
      `and ${isRefunded}`,
    ),
    transfer(
      `'/refund/' || n || '/succeeded'`,
      'refund_succeeded',
      'refunds_pending',
      'provider:sandbox',
      refunded,
      `and ${isRefunded} and n % 10000 > 200`,
    ),
    `insert into refunds (merchant_id, refund_reference, refund_id, mode, tx_reference, invoice_id, attempt_id, source, kind,
        provider_account, amount, currency, reason, requested_by, state, sends, sent_at, acknowledged_at, succeeded_at,
        created_at, updated_at, ended_at)
      select ${mine}, ${refund}, 'R-' || n, 'test', reference, ${invoice}, ${attempt}, 'payment', 'provider', 'sandbox',
        ${refunded}, 'GHS', 'One item was broken', 'merchant',
        case n % 10000 when 7 then 'needs_action' when 107 then 'unknown' else 'succeeded' end, 1, ${ended}, ${ended},
        case when n % 10000 > 200 then ${ended} end, ${ended}, ${ended}, case when n % 10000 > 200 then ${ended} end ${rows}
      where ${isPaid} and ${isRefunded}`,
    `insert into disputes (merchant_id, attempt_id, dispute_id, tx_reference, state, amount, currency, reason, due_at, opened_at,
        resolved_at)
      select ${mine}, ${attempt}, 'D' || n, reference, case when n % 40000 = 3 then 'open' else 'won' end, ${total}, 'GHS',
        'The customer does not recognise it', at + interval '10 days', ${ended},
        case when n % 40000 <> 3 then ${ended} + interval '5 days' end ${rows} where ${isPaid} and n % 2000 = 3`,
    `insert into reversals (merchant_id, attempt_id, reversal_id, tx_reference, amount, currency, reversed_at, created_at)
      select ${mine}, ${attempt}, 'V' || n, reference, 100, 'GHS', ${ended}, ${ended} ${rows}
      where ${isPaid} and n % 4000 = 5`,
    `insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, created_at, closed_at, closed_note)
      select ${mine}, ${attempt}, 'refund', reference, ${total}, 'GHS', ${ended},
        case when n % 20000 <> 9 then ${ended} + interval '1 day' end, case when n % 20000 <> 9 then 'Paid back.' end ${rows}
      where ${isPaid} and n % 1000 = 9`,
    `insert into refused_requests (merchant_id, request_id, mode, refused_at, method, path, http, code, field, message, fields)
      select ${mine}, 'req_' || lpad(n::text, 16, '0'), 'test', at, 'POST', '/v1/mobile_agents_v2', 422, 'invalid_field',
        'total', 'total: at most 2 decimals (got 5.001)', '{"total": "5.001", "invoice_id": "INV-1"}' ${rows}
      where n % 40 = 0 and ${isRemembered}`,
    `insert into taken_payments (merchant_id, tx_reference, user_id, mode)
      select ${mine}, reference, ${literal(user_id)}, 'test' ${rows} where n % 1000 = 3`,
    `insert into audit_entries (entry_id, at, actor_kind, actor_id, address, merchant_id, action, subject, before, after)
      select reference, at, 'user', ${literal(user_id)}, '192.0.2.9', ${mine}, 'payment.reveal', reference, null, null ${rows}
      where n % 20 = 0`,
    'drop table numbered',
  ]
  await withoutIndexes(url, async () => {
    for (const text of texts) await query(url, text)
  })
}

// Eight days of one node, for the operator's live view.
export const fillMinutes = (url, end) =>
  query(
    url,
    `insert into node_minutes (minute, node, started_live, started_test, counts)
      select date_trunc('minute', ${literal(end.toISOString())}::timestamptz) - n * interval '1 minute', 'bench', 40, 2,
        '{"ended": {"live sandbox mtn_mobile_money": {"paid": 32, "declined": 6, "troubled": 1, "paidSeconds": 900}},
          "delays": [0, 10, 20, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0], "refused": 0}'
      from generate_series(1, 11520) n`,
  )
