import type { Fields } from './json.ts'
import { aliases, requestSchema } from './request.ts'
import type { Warning } from './warnings.ts'

// Finds fields that the gateway does not read, and the name that was probably meant.
const ownExtras = ['extra_outlet', 'extra_wallet_issuer_hint', 'extra_currency']

// The names of one kind of request, and their plain forms. Every accepted request of test mode is compared with them, so
// they are made once.
export type FieldNames = {
  all: ReadonlySet<string>
  byPlain: ReadonlyMap<string, string> // the first name of each plain form
}

function fieldNames(names: readonly string[]): FieldNames {
  const byPlain = new Map<string, string>()
  for (const name of names) if (!byPlain.has(plainName(name))) byPlain.set(plainName(name), name)
  return { all: new Set(names), byPlain }
}

const plainName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

export const requestNames = fieldNames([
  ...Object.keys(requestSchema.shape),
  ...Object.keys(aliases),
  ...ownExtras,
])
export const statusNames = fieldNames(['merchant_key', 'invoice_id', 'secure_hash'])
export const refundNames = fieldNames([
  'merchant_key',
  'invoice_id',
  'refund_id',
  'amount',
  'reason',
  'secure_hash',
])
export const refundCheckNames = fieldNames(['merchant_key', 'refund_id', 'secure_hash'])

const maxWarnings = 10
const maxLength = 40 // of a name that is compared
const maxDistance = 2

// The names of other payment interfaces, without underscores.
const otherInterfaces: Record<string, string> = {
  amount: 'total',
  price: 'total',
  sum: 'total',
  ccy: 'currency',
  currencycode: 'currency',
  orderid: 'invoice_id',
  order: 'invoice_id',
  reference: 'invoice_id',
  ref: 'invoice_id',
  transactionid: 'invoice_id',
  txref: 'invoice_id',
  invoice: 'invoice_id',
  invoiceno: 'invoice_id',
  invoicenumber: 'invoice_id',
  key: 'merchant_key',
  apikey: 'merchant_key',
  publickey: 'merchant_key',
  merchant: 'merchant_key',
  merchantid: 'merchant_key',
  hash: 'secure_hash',
  signature: 'secure_hash',
  sign: 'secure_hash',
  hmac: 'secure_hash',
  checksum: 'secure_hash',
  callback: 'ipn_url',
  callbackurl: 'ipn_url',
  webhook: 'ipn_url',
  webhookurl: 'ipn_url',
  notifyurl: 'ipn_url',
  notificationurl: 'ipn_url',
  ipn: 'ipn_url',
  returnurl: 'success_url',
  redirecturl: 'success_url',
  thankyouurl: 'success_url',
  failureurl: 'cancelled_url',
  failedurl: 'cancelled_url',
  errorurl: 'cancelled_url',
  phone: 'number',
  phonenumber: 'number',
  mobile: 'number',
  mobileno: 'number',
  msisdn: 'number',
  customerphone: 'number',
  mail: 'email',
  emailaddress: 'email',
  customeremail: 'email',
  fullname: 'name',
  customername: 'name',
  customer: 'name',
  desc: 'description',
  narration: 'description',
  note: 'description',
  memo: 'description',
  items: 'line_items',
  products: 'line_items',
  cart: 'line_items',
  outlet: 'extra_outlet',
  branch: 'extra_outlet',
  wallet: 'pymt_instrument',
  network: 'extra_wallet_issuer_hint',
  voucher: 'voucher_code',
  checkouturl: 'generate_checkout_url',
}

// Empty values count too: a misspelt name is wrong whatever its value is.
export function fieldWarnings(sent: Fields, known: FieldNames): Warning[] {
  const warnings: Warning[] = []
  for (const name of Object.keys(sent)) {
    if (known.all.has(name) || sent[name] === undefined || warnings.length === maxWarnings) continue
    const warning = warningOf(name, known)
    if (warning) warnings.push(warning)
  }
  return warnings
}

function warningOf(name: string, known: FieldNames): Warning | undefined {
  const field = shown(name)
  const meant = suggestion(name, known)
  if (name.startsWith('extra_')) {
    if (meant === undefined) return undefined // a field of the merchant's own
    const message = `${field} is stored as a field of your own. Did you mean ${meant}?`
    return { field, code: 'unknown_field', message }
  }
  if (meant !== undefined && meant === name.toLowerCase())
    return {
      field,
      code: 'field_case',
      message: `${field} is ignored, because names are case-sensitive. Send it as ${meant}.`,
    }
  const ask = meant === undefined ? 'Fields of your own begin with extra_.' : `Did you mean ${meant}?`
  return {
    field,
    code: 'unknown_field',
    message: `${field} is not a field of this request and is ignored. ${ask}`,
  }
}

// The name goes into an answer and its message.
const shown = (name: string) => name.replace(/[^\x21-\x7e]/g, '?').slice(0, maxLength)

// A name of the merchant's own may resemble one of ours by chance, so extra_ fields are compared strictly.
function suggestion(name: string, known: FieldNames): string | undefined {
  if (name.length > maxLength) return undefined
  const plain = plainName(name)
  const same = known.byPlain.get(plain)
  if (same !== undefined) return same
  const isExtra = name.startsWith('extra_')
  const other = isExtra ? undefined : own(otherInterfaces, plain)
  if (other !== undefined && known.all.has(other)) return other
  const most = isExtra ? 1 : Math.min(maxDistance, Math.floor(plain.length / 3))
  return nearest(plain, known, most)
}

const own = (names: Record<string, string>, name: string) =>
  Object.hasOwn(names, name) ? names[name] : undefined

function nearest(plain: string, { byPlain }: FieldNames, most: number): string | undefined {
  let best: string | undefined
  let least = most + 1
  for (const [plainOther, name] of byPlain) {
    const distance = editDistance(plain, plainOther, least)
    if (distance < least) [best, least] = [name, distance]
  }
  return best
}

// Insertions, deletions, changed letters, and swapped neighbours. Returns `limit` if it is at least that.
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, j - 2) + 1 : limit,
      )
    }
    if (Math.min(...row) >= limit) return limit // it cannot become less
    beforeLast = last
    last = row
  }
  return Math.min(at(last, b.length), limit)
}

const at = (row: readonly number[], index: number) => row[index] ?? 0
