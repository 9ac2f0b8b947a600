import { setTimeout as sleep } from 'node:timers/promises'
import type { Pause } from '../../core/databaseClock.ts'
import { admitNew, type Candidate, type Traffic } from '../../core/notification/admit.ts'
import type { NotificationKey } from '../../core/notification/notification.ts'
import type { InlineDispatch } from '../../runtime/localWorkers.ts'
import type { Db } from '../../store/db.ts'
import { type Lease, type LeasedDelivery, undoLeases } from '../../store/notifications/deliveries.ts'
import type { NewDelivery } from '../../store/notifications/notifications.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'

// What the inline dispatch needs of the dispatcher.
type InlineDispatchOptions = {
  traffic: Traffic
  clock(): Date
  pause?: Pause
  newLease(now: Date): Lease
  laneOf(recipient: Pick<Candidate, 'merchant_id' | 'mode' | 'url' | 'lane'>): string
  hasWaiting(lane: Pick<Candidate, 'merchant_id' | 'lane'>): boolean
  prepareSigner(merchant_id: string): void
  send(candidate: Candidate, delivery: LeasedDelivery): void
  freeSlot(candidate: Candidate): void
  undoLeases(keys: readonly PaymentKey[], token: string): void
  opened(): void // a reservation was made
  ended(): void // it was confirmed, released, or its outcome is unknown
}

type Reserved = { candidate: Candidate; delivery: NewDelivery }

// Inline dispatch: the process that commits a notification also sends it, without a poll and without a statement to take
// it. `reserve` is called before the transaction writes. It counts a slot for each delivery that could start now, and the
// delivery is inserted with the lease of the reservation. The reservation ends in one of three ways:
//
// - confirm: committed. The deliveries that were inserted with the lease are sent; all other slots are free.
// - release: not committed. All slots are free.
// - outcomeUnknown: the connection was lost during the commit. Nothing is sent, all slots are free, and if the rows exist,
//   their leases are undone.
//
// A process that dies in between leaves leases that end by their time or with their node.
export function createReserve(options: InlineDispatchOptions): InlineDispatch['reserve'] {
  return deliveries => {
    if (options.pause?.()) return undefined
    const now = options.clock()
    const reserved = reserveSlots(options, deliveries, now)
    if (reserved.size === 0) return undefined
    const { token, until } = options.newLease(now)
    options.opened()
    const end = (leased: readonly NotificationKey[] = []) => {
      for (const key of leased) {
        const { candidate, delivery } = reserved.get(paymentName(key)) as Reserved
        reserved.delete(paymentName(key))
        options.send(candidate, leasedOf(delivery, key, token, until))
      }
      for (const { candidate } of reserved.values()) options.freeSlot(candidate)
      options.ended()
    }
    return {
      token,
      until,
      has: key => reserved.has(paymentName(key)),
      confirm: end,
      release: () => end(),
      outcomeUnknown() {
        const keys = [...reserved.values()].map(({ candidate }) => candidate)
        end()
        options.undoLeases(keys, token)
      },
    }
  }
}

// Deliveries that wait for a slot of the same lane have priority.
function reserveSlots(
  { traffic, laneOf, hasWaiting, prepareSigner }: InlineDispatchOptions,
  deliveries: readonly NewDelivery[],
  now: Date,
): Map<string, Reserved> {
  const reserved = new Map<string, Reserved>()
  for (const delivery of deliveries) {
    const candidate = candidateOf(delivery)
    candidate.lane = laneOf(candidate)
    if (hasWaiting(candidate) || !admitNew(candidate, traffic, now)) continue
    reserved.set(paymentName(candidate), { candidate, delivery })
    prepareSigner(candidate.merchant_id)
  }
  return reserved
}

// The sequence is assigned by the insert.
const candidateOf = ({ notification, to }: NewDelivery): Candidate => ({
  merchant_id: notification.merchant_id,
  tx_reference: notification.tx_reference,
  sequence: 0,
  mode: notification.mode,
  url: to.url,
  lane: to.lane,
  retry: false,
  begun_at: notification.created_at,
  last_try_at: null,
  by_hand: false,
  lane_key: undefined,
  payment_key: undefined,
  quota: undefined,
  past_breaker: undefined,
})

const leasedOf = (
  { notification, to }: NewDelivery,
  { sequence }: NotificationKey,
  lease_token: string,
  lease_until: Date,
): LeasedDelivery => ({
  merchant_id: notification.merchant_id,
  tx_reference: notification.tx_reference,
  sequence,
  mode: notification.mode,
  url: to.url,
  style: to.style,
  begun_at: notification.created_at,
  tries: 1,
  body: notification.body,
  status: notification.status,
  lease_token,
  lease_until,
})

const waitsMs = [20, 1000, 3000, 10_000] // the commit may still be running on the server; after that the lease ends soon

type UncertainOptions = { db: Db; freed(): void; trouble(error: unknown): void }

// Deliveries that may have a lease of this process but are not being sent: those of a commit whose outcome is unknown, and
// those whose lease became uncertain before the first byte. If the rows exist, their leases are undone.
export function createUncertainDeliveries({ db, freed, trouble }: UncertainOptions) {
  const open = new Set<Promise<void>>()
  let lastCall = new AbortController()

  async function undo(keys: readonly PaymentKey[], token: string, { signal }: AbortController) {
    for (const ms of waitsMs) {
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
      const count = await undoLeases(db, keys, token).catch(trouble)
      if (count) freed()
      if (count || signal.aborted) return
    }
  }

  return {
    add(keys: readonly PaymentKey[], token: string) {
      const undoing = undo(keys, token, lastCall).finally(() => open.delete(undoing))
      open.add(undoing)
    },
    // Tries each of them once more, without waiting.
    async ended() {
      lastCall.abort()
      lastCall = new AbortController()
      await Promise.all(open)
    },
  }
}
