// (a): the same rows by single-row statements straight into PostgreSQL, with no gateway in between.
import { rowInSql } from '../rows/payments.js'

export const straightConnections = 32

// How the parts that differ are spelled depends on who runs the statement.
export function straightStatement(kind, merchant, { key, tail, n }) {
  if (kind === 'status')
    return `select * from payments
      where merchant_id = '${merchant.merchant_id}' and mode = 'test' and invoice_id = 'INV-' || ${n}`
  const row = rowInSql(merchant, { invoice_id: `'S-' || ${key}`, key, tail })
  return `insert into payments (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

// Keys of 18 digits; each round has its own range, and each connection a part of it.
export const baseOf = series => 10n ** 17n + BigInt(series) * 10n ** 12n
