// The rows and requests of every contender are made from these values, so that all of them store the same.
import { createHash, createHmac } from 'node:crypto'

const shared = {
  currency: 'GHS',
  email: 'ama.mensah@mail.example',
  name: 'Ama Mensah',
  description: 'Two straw hats and a basket',
  success_url: 'https://shop.example/orders/thanks',
  ipn_url: 'https://shop.example/hooks/tollgate',
}
const typedNumber = '0241234000' // the simulated provider approves it by itself
const storedNumber = '+233241234000'
const digest = `\\x${'5a'.repeat(32)}`

export const storedInvoice = n => `INV-${n}`
export const newInvoice = (series, n) => `${series}-${n}`

// HTTP as bytes, signed, ready to be written to a socket. `series` keeps the invoices of two rounds apart; `own` are
// fields that are other than usual.
export const initiationRequest = (merchant, series, n, own = {}) => {
  const invoice_id = newInvoice(series, n)
  const total = `${1 + (n % 500)}.50`
  const text = `invoice_id=${invoice_id}&merchant_key=${merchant.merchant_key}&total=${total}`
  const body = JSON.stringify({
    merchant_key: merchant.merchant_key,
    invoice_id,
    total,
    number: typedNumber,
    ...shared,
    ...own,
    generate_checkout_url: true,
    secure_hash: sign(merchant, text),
  })
  return Buffer.from(
    `POST /v1/mobile_agents_v2 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

export const statusRequest = (merchant, invoice_id) => {
  const text = `invoice_id=${invoice_id}&merchant_key=${merchant.merchant_key}`
  return Buffer.from(
    `GET /v1/gateway/json_status_chk?${text}&secure_hash=${sign(merchant, text)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  )
}

// Customers come from many addresses, as a proxy in front would report: pages are rate limited by them.
const customers = 4000
const forwarded = () => {
  const n = Math.floor(Math.random() * customers)
  return `x-forwarded-for: 10.0.${n >> 8}.${n & 255}`
}

export const pageRequest = address =>
  Buffer.from(
    `GET ${address} HTTP/1.1\r\nhost: localhost\r\n${forwarded()}\r\naccept: text/html\r\naccept-encoding: gzip\r\n\r\n`,
  )

export const formRequest = ({ action, fields }) => {
  const body = new URLSearchParams(fields).toString()
  return Buffer.from(
    `POST ${action} HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\n${forwarded()}\r\naccept-encoding: gzip\r\n` +
      `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}

// A provider's callback for the attempt with this number.
export const callbackRequest = ({ merchant_id }, n) =>
  Buffer.from(
    `POST /callbacks/${merchant_id}${String(n).padStart(26, '0')} HTTP/1.1\r\nhost: localhost\r\n` +
      'content-length: 0\r\n\r\n',
  )

const sign = ({ secret_key }, text) => createHmac('sha256', secret_key).update(text).digest('hex')

// The parts that differ in the nth of the stored payments, in SQL; and where its page is.
export const storedParts = {
  invoice_id: `'INV-' || n`,
  key: `lpad(n::text, 18, '0')`,
  tail: `substr(md5(n::text), 1, 13)`,
}

export const storedPage = ({ merchant_id }, n) => {
  const tail = createHash('md5').update(String(n)).digest('hex').slice(0, 13)
  return `/checkout/${merchant_id}${String(n).padStart(18, '0').slice(0, 16)}${tail}000`
}

// One row, as column names with what to write for them in SQL. The caller says how the parts that differ
// from row to row are spelled: a key of 18 digits that counts up, and a tail of 13 random digits. The table's
// other columns are null, as they are for such a request.
export const rowInSql = (merchant, { invoice_id, key, tail, status = `'awaiting_payment'` }) => ({
  merchant_id: literal(merchant.merchant_id),
  tx_reference: `'TG-' || substr(${key}, 1, 6) || '-' || substr(${key}, 7, 6) || '-' || substr(${key}, 13)`,
  mode: `'test'`,
  invoice_id,
  tx_token: `${literal(merchant.merchant_id)} || substr(${key}, 1, 16) || ${tail} || '000'`,
  status,
  total: '2550',
  currency: literal(shared.currency),
  success_url: literal(shared.success_url),
  ipn_url: literal(shared.ipn_url),
  number: literal(storedNumber),
  email: literal(shared.email),
  name: literal(shared.name),
  description: literal(shared.description),
  extra: `'{}'`,
  request_digest: literal(digest),
  created_at: 'now()',
  updated_at: 'now()',
  expires_at: `now() + interval '1 hour'`,
})

const literal = text => `'${text.replaceAll("'", "''")}'`
