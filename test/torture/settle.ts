import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../src/store/db.ts'
import type { SimulatedProviders } from '../support/providers/simulatedProviders.ts'
import type { Installation } from './installation.ts'

export type Unsettled = { attempts: number; refunds: number; deliveries: number; payments: number }

const hurryMs = 1000

// Waits until nothing is due any more. Gateways wait for minutes and hours where a provider's or a merchant's promise needs
// it; here all processes run and no request is on its way, so what waits longer than that is made due. Returns what is
// left at the deadline.
export async function settle(installation: Installation, withinMs: number): Promise<Unsettled | undefined> {
  const { world } = installation
  for (const until = performance.now() + withinMs; ; await sleep(hurryMs)) {
    const left = await unsettled(world).catch(() => undefined) // the database has just started again
    if (left && Object.values(left).every(count => count === 0)) return undefined
    if (performance.now() > until) return left ?? { attempts: -1, refunds: -1, deliveries: -1, payments: -1 }
    await hurry(world).catch(() => {})
  }
}

const unclear = sql`exists (select from tasks t where t.merchant_id = r.merchant_id and t.attempt_id = r.attempt_id
  and t.kind = 'refund_unclear')`

async function unsettled({ db }: SimulatedProviders): Promise<Unsettled> {
  const row = await db.one<Record<keyof Unsettled, bigint>>(sql`
    select (select count(*) from attempts where state not in ('paid', 'failed', 'disputed')) as attempts,
      (select count(*) from refunds r where state in ('requested', 'pending', 'unknown') and not ${unclear}) as refunds,
      (select count(*) from deliveries where next_try_at is not null) as deliveries,
      (select count(*) from payments where status = 'awaiting_payment') as payments`)
  const count = (name: keyof Unsettled) => Number(row?.[name] ?? -1)
  return {
    attempts: count('attempts'),
    refunds: count('refunds'),
    deliveries: count('deliveries'),
    payments: count('payments'),
  }
}

async function hurry({ db, providers }: SimulatedProviders) {
  const orders = providers.flatMap(({ entries }) => entries())
  const taken = orders.map(({ reference }) => reference)
  const refunded = orders.flatMap(({ ours }) => ours.map(({ refund_reference }) => refund_reference))
  // The process that waited for a reply may be dead.
  await db.rows(sql`
    update attempts set lease_until = null, next_poll_at = now()
    where ended_at is null and updated_at < now() - interval '5 seconds'`)
  await db.rows(sql`
    update refunds set lease_until = null, next_poll_at = now()
    where ended_at is null and next_poll_at is not null and updated_at < now() - interval '5 seconds'`)
  // An order that was stored and not sent fails after a quarter of an hour, and an unclear refund gets a task.
  await db.rows(sql`
    update attempts set created_at = now() - interval '30 minutes'
    where state in ('started', 'unknown', 'not_sent') and not attempt_id = any(${taken})
      and created_at > now() - interval '20 minutes' and updated_at < now() - interval '8 seconds'`)
  await db.rows(sql`
    update refunds set sent_at = now() - interval '30 minutes'
    where state = 'unknown' and not refund_reference = any(${refunded})
      and sent_at > now() - interval '20 minutes' and updated_at < now() - interval '8 seconds'`)
  // Deliveries of a receiver that failed, and checkouts that nobody continues.
  await db.rows(sql`
    update deliveries set next_try_at = now()
    where next_try_at > now() + interval '1 second' and (lease_until is null or lease_until < now())`)
  await db.rows(sql`
    update payments p set expires_at = now()
    where status = 'awaiting_payment' and expires_at > now() and not exists (select from attempts a
      where (a.merchant_id, a.tx_reference) = (p.merchant_id, p.tx_reference) and a.ended_at is null)`)
}
