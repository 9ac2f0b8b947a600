import { Webhook } from 'standardwebhooks'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import type { Notification } from '../../../src/core/notification/notification.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import type { DeliveryDatabase, DeliveryShop } from './deliveryDatabase.ts'
import { openReceiver, type Received } from '../merchant/receiver.ts'

export type RecordingReceiver = Awaited<ReturnType<typeof openRecordingReceiver>>

const paymentOf = ({ id }: Received) => id.replace(/-N\d+$/, '')

// An endpoint that acknowledges everything after a delay, and records what must never happen: two notifications of one
// payment, or one notification twice, in flight at the same time.
export async function openRecordingReceiver(delayMs: () => number = () => 0) {
  const underWay = new Map<string, Received>()
  const overlaps: string[] = []
  const receiver = await openReceiver((one, response, { socket }) => {
    response.on('finish', () => setImmediate(() => socket.setTimeout(0))) // keep-alive, as with most servers
    const payment = paymentOf(one)
    const other = underWay.get(payment)
    if (other) overlaps.push(`${one.id} try ${one.attempt} while ${other.id} try ${other.attempt}`)
    underWay.set(payment, one)
    const isOver = () => {
      if (underWay.get(payment) === one) underWay.delete(payment)
    }
    const timer = setTimeout(() => {
      isOver()
      response.end('ok')
    }, delayMs())
    response.on('close', () => {
      clearTimeout(timer) // the client is gone
      isOver()
    })
  })
  return { ...receiver, overlaps, underWay: () => underWay.size }
}

export type StoredDelivery = Notification &
  Pick<Delivery, 'tries' | 'acknowledged_at' | 'lease_until' | 'next_try_at'>

// Compares committed notifications with received ones: every fault as a sentence, and the number of repeated deliveries.
export async function compareDeliveries(
  { db }: Pick<DeliveryDatabase, 'db'>,
  shops: readonly DeliveryShop[],
  received: readonly Received[],
) {
  const rows = await readDeliveries(db)
  const changes = await db.rows(sql`select from events where kind = 'status_changed'`)
  const faults = deliveryFaults(rows, shops, received)
  if (changes.length !== rows.length)
    faults.unshift(`${changes.length} changes, ${rows.length} notifications`)
  return { faults, notifications: rows.length, repeated: received.length - rows.length }
}

export const readDeliveries = (db: Pick<Db, 'rows'>) =>
  db.rows<StoredDelivery>(sql`
    select n.*, d.tries, d.acknowledged_at, d.lease_until, d.next_try_at
    from notifications n left join deliveries d using (merchant_id, tx_reference, sequence)`)

export function deliveryFaults(
  rows: readonly StoredDelivery[],
  shops: readonly DeliveryShop[],
  received: readonly Received[],
): string[] {
  const secrets = new Map(shops.map(({ merchant_id, test }) => [merchant_id, test.ipn_secret]))
  const byId = groupById(received)
  const faults: string[] = []
  for (const row of rows) {
    const id = `${row.tx_reference}-N${row.sequence}`
    const came = byId.get(id) ?? []
    byId.delete(id)
    faults.push(...faultsOf(row, came, secrets.get(row.merchant_id) ?? '').map(words => `${id} ${words}`))
  }
  for (const id of byId.keys()) faults.push(`${id} is unknown`)
  return faults
}

function groupById(received: readonly Received[]) {
  const groups = new Map<string, Received[]>()
  for (const one of received) {
    const group = groups.get(one.id)
    if (group) group.push(one)
    else groups.set(one.id, [one])
  }
  return groups
}

function faultsOf(row: StoredDelivery, came: readonly Received[], secret: string): string[] {
  const faults: string[] = []
  if (!row.acknowledged_at || row.next_try_at) faults.push('is not acknowledged')
  if (row.lease_until) faults.push('is still leased')
  if (came.length === 0) faults.push('never came')
  if (came.some(({ body }) => body !== row.body)) faults.push('came with other bytes')
  if (came.some(({ sequence }) => sequence !== row.sequence)) faults.push('came with another sequence')
  if (came.some(({ attempt }, at) => attempt <= (came[at - 1]?.attempt ?? 0) || attempt > row.tries))
    faults.push(`came as tries ${came.map(({ attempt }) => attempt).join()} of ${row.tries}`)
  if (!came.every(one => isSigned(one, secret))) faults.push('is not signed')
  return faults
}

// Compares with the signature of an independent implementation of Standard Webhooks. Its `verify` would also refuse what was
// sent more than five minutes ago, and many tests look later.
export function isSigned({ id, body, headers }: Received, secret: string): boolean {
  if (!secret) return false
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  const expected = new Webhook(secret).sign(id, sentAt, body)
  return String(headers['webhook-signature']).split(' ').includes(expected)
}
