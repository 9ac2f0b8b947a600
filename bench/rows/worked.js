// What the worker of the ledger has done with payments that are older than an hour: charges are searched, transfers sealed,
// balances stored for each day, transfers summed for closings and payments for reports.
import { query } from './database.js'
import { literal } from './deliveries.js'
import { thisVersion } from '../version.js'

// A server that has just written millions of rows may not answer for some seconds. Each step may run twice.
const maxTries = 20

export async function workOnLedger({ url, merchants }, now) {
  const [{ openDb }, { Unavailable }, { sumPayments }, { takeSnapshot }, { sealTransfers }, { sumClosing }] =
    await thisVersion.load(
      'store/db',
      'core/interface/refusal',
      'actions/payments/outletReport',
      'actions/ledger/balances',
      'actions/ledger/seal',
      'actions/ledger/closing',
    )
  const db = openDb(url, 2, 'bench')
  const insist = async work => {
    for (let tries = 1; ; tries++)
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Unavailable) || tries === maxTries) throw error
      }
  }
  try {
    for (const merchant_id of merchants) {
      await query(
        url,
        `insert into ledger_searches (merchant_id, behind, passes, due_at)
          values (${literal(merchant_id)}, '', 1, now() + interval '1 day')`,
      )
      await insist(() => sealTransfers(db, merchant_id, now))
      while (await insist(() => takeSnapshot(db, merchant_id, 'UTC', now))) continue
      const scope = { merchant_id, mode: /** @type {const} */ ('test') }
      while (await insist(() => sumClosing(db, scope, 'UTC', now))) continue
      while (await insist(() => sumPayments(db, scope, 'UTC', now))) continue
    }
  } finally {
    await db.end()
  }
}
