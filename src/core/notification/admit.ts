import type { Delivery } from './delivery.ts'
import { breakerOf, isStuck, type Lane, mostInLane, newLane, roomIn, withInFlight } from './lane.ts'
import { laneParts } from './laneName.ts'
import { tryAnyway } from './schedule.ts'

export const mostInFlight = 128
// Of a merchant. A customer can name any number of addresses that hang. So the live configured lane always finds 4
// slots that no request takes, and the live lanes of acknowledged paths 4 that no other address takes.
const mostOfMerchant = 16
const mostOfRequests = 12
const mostOfUnproven = 8
const leastQuota = Math.min(mostOfUnproven, mostInLane)
const mostRetries = mostInFlight / 2 // the other half is kept for first tries
const shareOfFree = 1 / 8 // a lane has at most that part of the slots that nobody has, or one

// What a look at the table tells of a delivery that is due.
export type Candidate = Pick<
  Delivery,
  'merchant_id' | 'tx_reference' | 'sequence' | 'mode' | 'url' | 'lane' | 'retry' | 'begun_at' | 'last_try_at'
> & {
  by_hand: boolean // somebody wants it sent again, and it was not yet
  due_at?: string // as the database writes it, to the microsecond
  lane_key?: string
  payment_key?: string
  quota?: Quota
  past_breaker?: boolean // it is sent although its lane is shut, and is no probe
}

// What one process has in flight.
export type Traffic = {
  lanes: Map<string, Lane> // by laneKey
  merchants: Map<string, number>
  quotas: Map<string, number> // by quota key: a group of request lanes, or a rank of a merchant
  parked: Map<string, { merchant_id: string; lane: string }> // lanes with deliveries that wait out of sight, by laneKey
  probes: Map<string, string> // by laneKey: the parked delivery that was chosen as the probe
  payments: Set<string>
  total: number
  retries: number
}

export const newTraffic = (): Traffic => ({
  lanes: new Map(),
  merchants: new Map(),
  quotas: new Map(),
  parked: new Map(),
  probes: new Map(),
  payments: new Set(),
  total: 0,
  retries: 0,
})

// Asked for again and again while a delivery waits, so each is put together once.
type LaneName = Pick<Candidate, 'merchant_id' | 'lane'> & { lane_key?: string; quota?: Quota }
type PaymentName = Pick<Candidate, 'merchant_id' | 'tx_reference'> & { payment_key?: string }

export const laneKey = (name: LaneName) => (name.lane_key ??= `${name.merchant_id} ${name.lane}`)
export const paymentKey = (name: PaymentName) =>
  (name.payment_key ??= `${name.merchant_id} ${name.tx_reference}`)
export const deliveryKey = (name: PaymentName & { sequence: number }) =>
  `${paymentKey(name)} ${name.sequence}`

// Which slots of its merchant a lane may have. Rank 0: the live configured lane; 1: live lanes of acknowledged paths; 2:
// all others, and those of test mode.
export type Quota = {
  rank: 0 | 1 | 2
  rank_keys: readonly [string, string, string]
  group_key: string | undefined
}

function quotaOf(name: LaneName): Quota {
  if (name.quota) return name.quota
  const { kind, mode, group } = laneParts(name.lane)
  const rank = mode !== 'live' || kind === 'shared' ? 2 : kind === 'configured' ? 0 : 1
  const group_key = group && `${name.merchant_id} ${group}`
  return (name.quota = { rank, rank_keys: rankKeys(name.merchant_id), group_key })
}

const rankKeys = (merchant_id: string) =>
  [`${merchant_id} 0`, `${merchant_id} 1`, `${merchant_id} 2`] as const

export function rankKey(name: LaneName): string {
  const { rank, rank_keys } = quotaOf(name)
  return rank_keys[rank]
}

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
  const untried = lanesOfUntried(due)
  for (const [at, candidate] of due.entries()) {
    if (traffic.total >= mostInFlight || choice.take.length >= most) {
      choice.wait.push(...due.slice(at))
      break
    }
    const lane = traffic.lanes.get(laneKey(candidate)) ?? newLane()
    const pile = verdict(candidate, lane, traffic, now, untried)
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

function verdict(
  candidate: Candidate,
  lane: Lane,
  traffic: Traffic,
  now: Date,
  untried: () => ReadonlySet<string>,
): keyof Admission<Candidate> {
  const breaker = breakerOf(lane, now.getTime())
  const isShut =
    breaker === 'open' || (breaker === 'probing' && candidate.retry && !mayProbe(candidate, traffic, untried))
  if (isShut && !isTriedAnyway(candidate, now)) return 'hold'
  candidate.past_breaker = isShut
  const room = isShut ? mostInLane - lane.inFlight : roomIn(lane, now.getTime())
  const isBarred =
    room <= 0 ||
    hasItsShare(lane, traffic) ||
    isBusy(candidate, traffic) ||
    (candidate.retry && traffic.retries >= mostRetries) ||
    traffic.payments.has(paymentKey(candidate))
  return isBarred ? 'wait' : 'take'
}

const isTriedAnyway = ({ by_hand, begun_at, last_try_at }: Candidate, now: Date) =>
  by_hand || tryAnyway(begun_at, last_try_at) <= now

export const isProbing = (lane: Lane, now: Date) => breakerOf(lane, now.getTime()) === 'probing'

// A probe is never spent on a delivery that has failed before while one that was never tried waits. Where some are parked,
// the database has chosen the probe among them.
function mayProbe(candidate: Candidate, { parked, probes }: Traffic, untried: () => ReadonlySet<string>) {
  const key = laneKey(candidate)
  if (untried().has(key)) return false
  return !parked.has(key) || probes.get(key) === deliveryKey(candidate)
}

// Made when it is asked for, which is rare.
function lanesOfUntried(due: readonly Candidate[]): () => ReadonlySet<string> {
  let lanes: Set<string> | undefined
  return () => (lanes ??= new Set(due.filter(({ retry }) => !retry).map(laneKey)))
}

// However many lanes hang, some slots stay free: whoever has none finds one.
const hasItsShare = ({ inFlight }: Lane, { total }: Traffic) =>
  inFlight >= (mostInFlight - total) * shareOfFree

// Asked for every delivery that waits, at every turn: most merchants have too few in flight to reach any quota.
function isBusy(name: LaneName, { merchants, quotas }: Traffic): boolean {
  const ofMerchant = merchants.get(name.merchant_id) ?? 0
  if (ofMerchant < leastQuota) return false
  if (ofMerchant >= mostOfMerchant) return true
  const { rank, rank_keys, group_key } = quotaOf(name)
  if (group_key && (quotas.get(group_key) ?? 0) >= mostInLane) return true
  if (rank === 0) return false
  const unproven = quotas.get(rank_keys[2]) ?? 0
  if (rank === 2 && unproven >= mostOfUnproven) return true
  return unproven + (quotas.get(rank_keys[1]) ?? 0) >= mostOfRequests
}

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
  add(traffic.merchants, merchant_id, 1)
  addToQuotas(traffic, candidate, 1)
  traffic.payments.add(paymentKey(candidate))
  traffic.probes.delete(laneKey(candidate))
  traffic.total++
  if (retry) traffic.retries++
}

// It has come back, or never left; what is known of its lane by then is the caller's to say.
export function arrive(traffic: Traffic, candidate: Candidate, lane: Lane) {
  const { merchant_id, retry } = candidate
  traffic.lanes.set(laneKey(candidate), lane)
  add(traffic.merchants, merchant_id, -1)
  addToQuotas(traffic, candidate, -1)
  traffic.payments.delete(paymentKey(candidate))
  traffic.total--
  if (retry) traffic.retries--
}

function addToQuotas({ quotas }: Traffic, candidate: Candidate, by: 1 | -1) {
  const { group_key } = quotaOf(candidate)
  add(quotas, rankKey(candidate), by)
  if (group_key) add(quotas, group_key, by)
}

function add(counts: Map<string, number>, key: string, by: 1 | -1) {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
