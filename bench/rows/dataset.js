// A database with many merchants, each with its own endpoint.
import { masterKey, query } from './database.js'
import { literal } from './deliveries.js'
import { rowInSql, storedParts } from './payments.js'

// `settings` are of every merchant.
export async function createDataset(bench, name, ports, made, settings = []) {
  const { url, version, merchant } = await bench.server.create(name, made)
  const callers = await onboardAll(url, version, ports.length, settings)
  const merchants = callers.map(({ merchant_id }) => merchant_id)
  const urls = ports.map((port, n) => `http://127.0.0.1:${port}/ipn/${n}`)
  return { url, version, merchant, callers, merchants, urls } // `merchant` has no endpoint
}

async function onboardAll(url, version, count, settings) {
  const [{ openDb }, { onboard }, { setMerchant }, { givenMasterKeys }] = await version.load(
    'store/db',
    'actions/merchants/onboard',
    'actions/merchants/setMerchant',
    'start/masterKeys',
  )
  const db = openDb(url, 8, 'bench')
  try {
    const keys = givenMasterKeys([Buffer.from(masterKey, 'hex')])
    const onboardOne = async (_, n) => {
      const { merchant_id, test } = await onboard(db, keys, `Merchant ${n}`, ['test'], new Date())
      await setMerchant(db, merchant_id, ['rate_limit=0', ...settings])
      return { merchant_id, ...test }
    }
    return await Promise.all(Array.from({ length: count }, onboardOne))
  } finally {
    await db.end()
  }
}

// Unpaid payments; those of each merchant are numbered separately. `countOf` says how many it has,
// `others` in SQL what else their columns hold.
export async function fillPayments({ url, merchants, urls }, countOf, others = {}) {
  await query(url, 'truncate payments, events, notifications, deliveries, tries, messages cascade')
  for (const [at, merchant_id] of merchants.entries()) {
    const row = rowInSql({ merchant_id }, { ...storedParts, status: `'awaiting_payment'` })
    // Without a customer's address, because messages would be measured, too.
    const columns = { ...row, ipn_url: literal(urls[at]), number: 'null', email: 'null', ...others }
    await query(
      url,
      `insert into payments (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')}
        from generate_series(${firstOf(at)}, ${firstOf(at) + countOf(at) - 1}) n`,
    )
  }
  await query(url, 'vacuum analyze payments, events, notifications, deliveries, tries')
  await query(url, 'checkpoint')
}

const firstOf = merchant => (merchant + 1) * 1_000_000

// The nth payment of a merchant, where its notification goes and what that is called.
export function paymentOf({ merchants, urls }, merchant, n) {
  const merchant_id = merchants[merchant]
  const number = firstOf(merchant) + n
  const digits = String(number).padStart(18, '0')
  const tx_reference = `TG-${digits.slice(0, 6)}-${digits.slice(6, 12)}-${digits.slice(12)}`
  return { merchant_id, number, tx_reference, address: urls[merchant], id: `${tx_reference}-N1` }
}
