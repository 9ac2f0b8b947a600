// Sends callbacks of providers, and polls the status check until each has its effect.
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../rows/database.js'
import { openConnection, readAnswer } from './connection.js'
import { callbackRequest, rowInSql, statusRequest, storedInvoice, storedParts } from '../rows/payments.js'

const lookMs = 20
const patienceMs = 120_000

// Payments from number `from` to `to`, each with an attempt that a provider knows. `due` says in SQL when it is asked
// about by itself.
export async function addAttempts({ url, merchant }, provider, { from, to, due }) {
  const { merchant_id } = merchant
  const row = { ...rowInSql(merchant, { ...storedParts }), number: 'null', email: 'null', ipn_url: 'null' }
  const numbers = `from generate_series(${from}, ${to}) n`
  await query(
    url,
    `insert into payments (${Object.keys(row).join(', ')}) select ${Object.values(row).join(', ')} ${numbers}`,
  )
  await query(
    url,
    `insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, polls,
        next_poll_at, created_at, updated_at)
      select '${merchant_id}', '${merchant_id}' || lpad(n::text, 26, '0'), ${row.tx_reference}, 1, '${provider}',
        '${provider}_wallet', 'pending', 3, ${due}, now(), now() ${numbers}`,
  )
}

// One every so often, whether or not the last has led to something. Milliseconds from each callback to the status check
// that says paid.
export async function sendCallbacks({ port, merchant }, { from, to }, gapMs) {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const connections = await Promise.all(numbers.map(() => openConnection(port)))
  try {
    return await Promise.all(
      numbers.map(async (n, at) => {
        await sleep(at * gapMs)
        return untilPaid(connections[at], merchant, n)
      }),
    )
  } finally {
    for (const connection of connections) connection.close()
  }
}

async function untilPaid(connection, merchant, n) {
  const question = statusRequest(merchant, storedInvoice(n))
  const callback_received = performance.now()
  await connection.ask(callbackRequest(merchant, n))
  for (;;) {
    const { status } = JSON.parse(readAnswer(await connection.ask(question)).text)
    const ms = performance.now() - callback_received
    if (status === 'paid') return ms
    if (ms > patienceMs) throw new Error('A callback had no effect.')
    await sleep(lookMs)
  }
}
