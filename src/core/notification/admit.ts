import type { Delivery } from './delivery.ts'
import {
  breakerOf,
  isStuck,
  type Lane,
  laneParts,
  mostInLane,
  newLane,
  roomIn,
  withInFlight,
} from './lane.ts'
import { tryAnyway } from './schedule.ts'

export const mostInFlight = 128
// Limits per merchant. A customer can name any number of addresses that hang. So 4 slots are reserved for the live
// configured lane, and 4 more for it and the live lanes of acknowledged paths.
const mostOfMerchant = 16
const mostOfRequests = 12
const mostOfUnproven = 8
const leastQuota = Math.min(mostOfUnproven, mostInLane)
const mostRetries = mostInFlight / 2 // the other half is reserved for first tries
const fairShareOfFree = 1 / 8 // a lane has at most this part of the free slots, or one

// A delivery that is due, as a poll of the table returns it.
export type Candidate = Pick<
  Delivery,
  'merchant_id' | 'tx_reference' | 'sequence' | 'mode' | 'url' | 'lane' | 'retry' | 'begun_at' | 'last_try_at'
> & {
  by_hand: boolean // an operator requested a redelivery, which has not been tried yet
  due_at?: string // the database's text, exact to the microsecond
  lane_key?: string
  payment_key?: string
  quota?: Quota
  past_breaker?: boolean // sent although the breaker is not closed, and not as a probe
}

// The tries that one process has in flight, counted by everything that has a limit.
export type Traffic = {
  lanes: Map<string, Lane> // by laneKey
  merchants: Map<string, number>
  quotas: Map<string, number> // by quota key: a group of request lanes, or a rank of a merchant
  parked: Map<string, { merchant_id: string; lane: string }> // lanes with parked deliveries, by laneKey
  probes: Map<string, string> // by laneKey: the key of the parked delivery that was chosen as the probe
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

// Keys are computed once per candidate, because a waiting delivery needs them at every step.
type LaneName = Pick<Candidate, 'merchant_id' | 'lane'> & { lane_key?: string; quota?: Quota }
type PaymentName = Pick<Candidate, 'merchant_id' | 'tx_reference'> & { payment_key?: string }

export const laneKey = (name: LaneName) => (name.lane_key ??= `${name.merchant_id} ${name.lane}`)
export const paymentKey = (name: PaymentName) =>
  (name.payment_key ??= `${name.merchant_id} ${name.tx_reference}`)
export const deliveryKey = (name: PaymentName & { sequence: number }) =>
  `${paymentKey(name)} ${name.sequence}`

// Which slots of its merchant a lane may use. Rank 0: the live configured lane; 1: live lanes of acknowledged paths; 2:
// shared lanes and all lanes of test mode.
type Quota = {
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

type Admission<C extends Candidate> = {
  take: C[] // can start now; counted as in flight
  park: C[] // the breaker of its lane does not let it through
  wait: C[] // there is no slot for it now
}

// Decides which of the due deliveries can start now, in the order given. A dead endpoint occupies only the slots of its
// own lane: full lanes are skipped, and the fewer slots are free, the fewer a lane may have.
export function admit<C extends Candidate>(
  due: readonly C[],
  traffic: Traffic,
  now: Date,
  most = mostInFlight,
): Admission<C> {
  const choice: Admission<C> = { take: [], park: [], wait: [] }
  const untried = lanesOfUntried(due)
  for (const [at, candidate] of due.entries()) {
    if (traffic.total >= mostInFlight || choice.take.length >= most) {
      choice.wait.push(...due.slice(at))
      break
    }
    const lane = traffic.lanes.get(laneKey(candidate)) ?? newLane()
    const verdict = judge(candidate, lane, traffic, now, untried)
    choice[verdict].push(candidate)
    if (verdict === 'take') countStart(traffic, candidate, lane, now)
  }
  return choice
}

// Whether a delivery that is about to be inserted can start right after its commit. If so, it is counted as in flight.
// Only for lanes with a closed breaker: the others choose their probe themselves.
export function admitNew(candidate: Candidate, traffic: Traffic, now: Date): boolean {
  const lane = traffic.lanes.get(laneKey(candidate)) ?? newLane()
  return (
    breakerOf(lane, now.getTime()) === 'closed' && admit([candidate], traffic, now).take.includes(candidate)
  )
}

function judge(
  candidate: Candidate,
  lane: Lane,
  traffic: Traffic,
  now: Date,
  untried: () => ReadonlySet<string>,
): keyof Admission<Candidate> {
  const breaker = breakerOf(lane, now.getTime())
  const isStopped =
    breaker === 'open' || (breaker === 'probing' && candidate.retry && !mayProbe(candidate, traffic, untried))
  if (isStopped && !isTriedAnyway(candidate, now)) return 'park'
  candidate.past_breaker = isStopped
  const room = isStopped ? mostInLane - lane.inFlight : roomIn(lane, now.getTime())
  const mustWait =
    room <= 0 ||
    isAtFairShare(lane, traffic) ||
    isAtQuota(candidate, traffic) ||
    (candidate.retry && traffic.retries >= mostRetries) ||
    traffic.payments.has(paymentKey(candidate))
  return mustWait ? 'wait' : 'take'
}

const isTriedAnyway = ({ by_hand, begun_at, last_try_at }: Candidate, now: Date) =>
  by_hand || tryAnyway(begun_at, last_try_at) <= now

export const isProbing = (lane: Lane, now: Date) => breakerOf(lane, now.getTime()) === 'probing'

// A delivery that has failed before is no probe while one waits that was never tried. If the lane has parked deliveries,
// the probe was chosen among them by the database.
function mayProbe(candidate: Candidate, { parked, probes }: Traffic, untried: () => ReadonlySet<string>) {
  const key = laneKey(candidate)
  if (untried().has(key)) return false
  return !parked.has(key) || probes.get(key) === deliveryKey(candidate)
}

// Computed on the first call, which is rare.
function lanesOfUntried(due: readonly Candidate[]): () => ReadonlySet<string> {
  let lanes: Set<string> | undefined
  return () => (lanes ??= new Set(due.filter(({ retry }) => !retry).map(laneKey)))
}

// However many lanes hang, some slots stay free, so that a lane without a try in flight finds one.
const isAtFairShare = ({ inFlight }: Lane, { total }: Traffic) =>
  inFlight >= (mostInFlight - total) * fairShareOfFree

// Called for every waiting delivery at every step. The first line is for speed: most merchants have too few tries in
// flight to reach any quota.
function isAtQuota(name: LaneName, { merchants, quotas }: Traffic): boolean {
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

// Whether one more try of this lane could start now or very soon. While free slots are scarce, a lane whose tries end
// gets one soon.
export function hasRoom(name: LaneName, traffic: Traffic, now: Date): boolean {
  const lane = traffic.lanes.get(laneKey(name)) ?? newLane()
  const isScarce = isAtFairShare(lane, traffic) && isStuck(lane, now.getTime())
  return roomIn(lane, now.getTime()) > 0 && !isAtQuota(name, traffic) && !isScarce
}

function countStart(traffic: Traffic, candidate: Candidate, lane: Lane, now: Date) {
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

// The try has ended, or was not sent. `lane` is the state of its lane after that.
export function countEnd(traffic: Traffic, candidate: Candidate, lane: Lane) {
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
