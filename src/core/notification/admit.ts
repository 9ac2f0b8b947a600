import type { Delivery } from './delivery.ts'
import { breakerOf, isOpen, isStuck, type Lane, mostInLane, newLane, roomIn, withInFlight } from './lane.ts'
import { tryAnyway } from './schedule.ts'

export const mostInFlight = 128
const mostOfMerchant = 16
const mostRetries = mostInFlight / 2 // the other half is kept for first tries
const shareOfFree = 1 / 8 // a lane has at most that part of the slots that nobody has, or one

// What a look at the table tells of a delivery that is due.
export type Candidate = Pick<
  Delivery,
  'merchant_id' | 'tx_reference' | 'sequence' | 'lane' | 'retry' | 'begun_at' | 'last_try_at'
> & {
  by_hand: boolean // somebody wants it sent again, and it was not yet
  due_at?: string // as the database writes it, to the microsecond
  lane_key?: string
  payment_key?: string
}

// What one process has in flight.
export type Traffic = {
  lanes: Map<string, Lane> // by laneKey
  merchants: Map<string, number>
  payments: Set<string>
  total: number
  retries: number
}

export const newTraffic = (): Traffic => ({
  lanes: new Map(),
  merchants: new Map(),
  payments: new Set(),
  total: 0,
  retries: 0,
})

// Asked for again and again while a delivery waits, so each is put together once.
type LaneName = Pick<Candidate, 'merchant_id' | 'lane'> & { lane_key?: string }
type PaymentName = Pick<Candidate, 'merchant_id' | 'tx_reference'> & { payment_key?: string }

export const laneKey = (name: LaneName) => (name.lane_key ??= `${name.merchant_id} ${name.lane}`)
export const paymentKey = (name: PaymentName) =>
  (name.payment_key ??= `${name.merchant_id} ${name.tx_reference}`)
export const deliveryKey = (candidate: Candidate) => `${paymentKey(candidate)} ${candidate.sequence}`

export type Admission<C extends Candidate> = {
  take: C[] // can start now; counted as in flight
  hold: C[] // its lane is closed to it: out of the way
  wait: C[] // its lane is full
}

// Which of the deliveries that are due can start now, in the order given. A dead endpoint costs the slots of its own
// lane: full lanes are skipped, and the fewer slots are free, the fewer a lane may have.
export function admit<C extends Candidate>(
  due: readonly C[],
  traffic: Traffic,
  now: Date,
  most = mostInFlight,
): Admission<C> {
  const choice: Admission<C> = { take: [], hold: [], wait: [] }
  for (const [at, candidate] of due.entries()) {
    if (traffic.total >= mostInFlight || choice.take.length >= most) {
      choice.wait.push(...due.slice(at))
      break
    }
    const lane = traffic.lanes.get(laneKey(candidate)) ?? newLane()
    const pile = verdict(candidate, lane, traffic, now)
    choice[pile].push(candidate)
    if (pile === 'take') depart(traffic, candidate, lane, now)
  }
  return choice
}

// Whether one that is about to be written can start as soon as it is; then it is counted as in flight. A lane that is in
// trouble has its own order.
export function admitNew(candidate: Candidate, traffic: Traffic, now: Date): boolean {
  const lane = traffic.lanes.get(laneKey(candidate)) ?? newLane()
  return (
    breakerOf(lane, now.getTime()) === 'closed' && admit([candidate], traffic, now).take.includes(candidate)
  )
}

function verdict(candidate: Candidate, lane: Lane, traffic: Traffic, now: Date): keyof Admission<Candidate> {
  const open = isOpen(lane, now.getTime())
  if (open && !candidate.by_hand && tryAnyway(candidate.begun_at, candidate.last_try_at) > now) return 'hold'
  const room = open ? mostInLane - lane.inFlight : roomIn(lane, now.getTime())
  const isBarred =
    room <= 0 ||
    hasItsShare(lane, traffic) ||
    isBusy(candidate, traffic) ||
    (candidate.retry && traffic.retries >= mostRetries) ||
    traffic.payments.has(paymentKey(candidate))
  return isBarred ? 'wait' : 'take'
}

// However many lanes hang, some slots stay free: whoever has none finds one.
const hasItsShare = ({ inFlight }: Lane, { total }: Traffic) =>
  inFlight >= (mostInFlight - total) * shareOfFree

const isBusy = ({ merchant_id }: LaneName, traffic: Traffic) =>
  (traffic.merchants.get(merchant_id) ?? 0) >= mostOfMerchant

// Whether one more of this lane could start now or very soon. Where slots are scarce for everybody, a lane that moves
// will have one in a moment.
export function hasRoom(name: LaneName, traffic: Traffic, now: Date): boolean {
  const lane = traffic.lanes.get(laneKey(name)) ?? newLane()
  const isScarce = hasItsShare(lane, traffic) && isStuck(lane, now.getTime())
  return roomIn(lane, now.getTime()) > 0 && !isBusy(name, traffic) && !isScarce
}

function depart(traffic: Traffic, candidate: Candidate, lane: Lane, now: Date) {
  const { merchant_id, retry } = candidate
  const movedAt = lane.inFlight === 0 ? now.getTime() : lane.movedAt
  traffic.lanes.set(laneKey(candidate), withInFlight(lane, lane.inFlight + 1, movedAt))
  traffic.merchants.set(merchant_id, (traffic.merchants.get(merchant_id) ?? 0) + 1)
  traffic.payments.add(paymentKey(candidate))
  traffic.total++
  if (retry) traffic.retries++
}

// It has come back, or never left; what is known of its lane by then is the caller's to say.
export function arrive(traffic: Traffic, candidate: Candidate, lane: Lane) {
  const { merchant_id, retry } = candidate
  traffic.lanes.set(laneKey(candidate), lane)
  const others = (traffic.merchants.get(merchant_id) ?? 1) - 1
  if (others > 0) traffic.merchants.set(merchant_id, others)
  else traffic.merchants.delete(merchant_id)
  traffic.payments.delete(paymentKey(candidate))
  traffic.total--
  if (retry) traffic.retries--
}
