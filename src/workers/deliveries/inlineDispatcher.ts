import type { Pause } from '../../core/databaseClock.ts'
import { admitNew, type Candidate, type Traffic } from '../../core/notification/admit.ts'
import type { NotificationKey } from '../../core/notification/notification.ts'
import type { InlineDispatch, Reservation } from '../../runtime/localWorkers.ts'
import type { Lease, Taken } from '../../store/notifications/deliveries.ts'
import type { Sending } from '../../store/notifications/notifications.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'

export type InlineDispatcherOptions = {
  traffic: Traffic
  clock(): Date
  pause?: Pause
  newLease(now: Date): Lease
  laneOf(destination: Pick<Candidate, 'merchant_id' | 'mode' | 'url' | 'lane'>): string
  isWaitedFor(lane: Pick<Candidate, 'merchant_id' | 'lane'>): boolean
  prepare(sending: Sending): void // it will leave in a moment
  carry(candidate: Candidate, taken: Taken): void
  free(candidate: Candidate): void // it does not leave
  undo(keys: readonly PaymentKey[], token: string): void // if they were written at all
  enter(): void
  leave(): void
}

export type InlineDispatcher = Pick<InlineDispatch, 'reserve'>
type Kept = { candidate: Candidate; sending: Sending }

// What is committed in this process and could leave at once is written with a lease, as if it had been taken, and handed
// over after its commit: nobody looks for it. Its slot is kept from before the write. Whoever dies in between leaves what
// somebody leaves who dies before the first byte: a lease that ends.
export function createInlineDispatcher(options: InlineDispatcherOptions): InlineDispatcher {
  const { traffic, clock, pause, carry, free } = options

  // Those who wait for a slot of their lane come first.
  function keep(sendings: readonly Sending[], now: Date): Map<string, Kept> {
    const kept = new Map<string, Kept>()
    for (const sending of sendings) {
      const candidate = candidateOf(sending)
      candidate.lane = options.laneOf(candidate)
      if (options.isWaitedFor(candidate) || !admitNew(candidate, traffic, now)) continue
      kept.set(paymentName(candidate), { candidate, sending })
      options.prepare(sending)
    }
    return kept
  }

  function reserve(sendings: readonly Sending[]): Reservation | undefined {
    if (pause?.()) return undefined
    const now = clock()
    const kept = keep(sendings, now)
    if (kept.size === 0) return undefined
    const { token, until } = options.newLease(now)
    options.enter()
    const end = (leased: readonly NotificationKey[] = []) => {
      for (const key of leased) {
        const { candidate, sending } = kept.get(paymentName(key)) as Kept
        kept.delete(paymentName(key))
        carry(candidate, takenOf(sending, key, token, until))
      }
      for (const { candidate } of kept.values()) free(candidate)
      options.leave()
    }
    return {
      token,
      until,
      has: key => kept.has(paymentName(key)),
      confirm: end,
      release: () => end(),
      outcomeUnknown() {
        const keys = [...kept.values()].map(({ candidate }) => candidate)
        end()
        options.undo(keys, token)
      },
    }
  }

  return { reserve }
}

// Its number is not known yet.
const candidateOf = ({ notification, to }: Sending): Candidate => ({
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

const takenOf = (
  { notification, to }: Sending,
  { sequence }: NotificationKey,
  lease_token: string,
  lease_until: Date,
): Taken => ({
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
