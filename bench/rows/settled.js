// What became of the payments of a round, counted where it is kept, when all of it is written down.
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from './database.js'

const patienceMs = 20_000 // until the last acknowledgement is written down
const lookMs = 100

// Attempts and notifications beyond the first of a payment show as too many.
const counts = {
  payments: 'from payments',
  paid: `from payments where status = 'paid'`,
  cancelled: `from payments where status = 'cancelled'`,
  attempts: 'from attempts',
  notifications: 'from notifications',
  acknowledged: 'from deliveries where acknowledged_at is not null',
}
const again = 'from deliveries where tries > 1' // taken once more, whatever was sent

const unfinished = `select tries, lease_token is not null as taken, round(extract(epoch from next_try_at - now())) as due_in,
    last_result, last_words from deliveries where acknowledged_at is null limit 3`

// Waits until each of the named counts is as many as were begun, or no longer.
export async function countSettled({ url }, names, begun) {
  const wanted = { ...Object.fromEntries(names.map(name => [name, counts[name]])), again }
  const text = `select ${Object.entries(wanted)
    .map(([name, from]) => `(select count(*)::int ${from}) as ${name}`)
    .join(', ')}`
  const read = async () => (await query(url, text))[0]
  let counted = await read()
  const isSettled = () => names.every(name => counted[name] >= begun)
  for (const until = performance.now() + patienceMs; !isSettled() && performance.now() < until; ) {
    await sleep(lookMs)
    counted = await read()
  }
  return counted
}

// Anything but each once ends the run, and says what is left.
export async function mustBeOnce({ url }, words, begun, { counted, once, never }) {
  if (once.every(name => counted[name] === begun) && never.every(name => counted[name] === 0)) return
  const left = await query(url, unfinished).catch(() => []) // another version may call it otherwise
  throw new Error(
    `${begun} payments were ${words}, and after ${patienceMs / 1000} s counted were ${JSON.stringify(counted)}.` +
      (left.length > 0 ? ` Not acknowledged are such as ${JSON.stringify(left)}.` : ''),
  )
}
