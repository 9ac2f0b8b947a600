import { hash } from 'node:crypto'
import type { Mode } from '../mode.ts'
import { isTrouble, type Result } from './delivery.ts'

// A lane is the unit of isolation of deliveries: those of one lane share a circuit breaker and a number of tries in
// flight. Every lane belongs to one merchant, one mode and one origin. The party that chose the address decides the lane,
// so that an address that a customer wrote into a form never stops another one:
//
// - `configured`: the address is the merchant's `ipn_url` setting.
// - `acknowledged`: a request named the address, and its path was acknowledged most of all paths of its origin in the
//   last 24 hours.
// - `taken`: the address is the `ipn_url` setting, and a user of the dashboard took the payment. The shop may fail
//   on an order that it never made, which must not stop its own notifications.
// - `shared-1` to `shared-3`: a request named the address, and it has another path. The path chooses the lane by hash.
//
// The acknowledged and shared lanes are request lanes; those of one origin are a group. Query and fragment are ignored.
// The first half of this file is about the names of lanes, the second half about the state of a lane in one process.
const sharedLanes = 3
const digestLength = 24 // 96 bits: finding a second path with the same digest is infeasible

type LaneKind = 'configured' | 'taken' | 'acknowledged' | 'shared'
export type RequestAddress = { origin: string; path: string } // path: a digest of it

export function requestAddress(url: string): RequestAddress {
  const parsed = new URL(url)
  return { origin: originOf(parsed), path: digestOf(parsed.pathname) }
}

const originOf = ({ protocol, hostname, port }: URL) =>
  `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`

const digestOf = (text: string) => hash('sha256', text, 'hex').slice(0, digestLength)

// The lane that a delivery is stored with. Only the dispatcher has the counts of acknowledgements, so the delivery of a
// request is stored in a shared lane, and may move to the acknowledged lane when it is sent or parked.
export const laneOf = (url: string, mode: Mode, settings: { ipn_url: string | null }): string =>
  url === settings.ipn_url ? configuredLane(url, mode) : sharedLane(requestAddress(url), mode)

// A changed address in the settings is a new lane: failures of the former address do not stop it.
const configuredLane = (url: string, mode: Mode) => laneOfSetting('configured', url, mode)

export const takenLane = (url: string, mode: Mode) => laneOfSetting('taken', url, mode)

const laneOfSetting = (kind: 'configured' | 'taken', url: string, mode: Mode) =>
  `${mode}/${kind}/${originOf(new URL(url))}/${digestOf(url)}`

export const acknowledgedLane = ({ origin, path }: RequestAddress, mode: Mode) =>
  `${mode}/acknowledged/${origin}/${path}`

export const sharedLane = ({ origin, path }: RequestAddress, mode: Mode) =>
  `${mode}/shared-${1 + (Number.parseInt(path.slice(0, 8), 16) % sharedLanes)}/${origin}`

// The address is the merchant's setting. Called for every delivery that is due, so it does not parse the name. Both modes
// have four letters.
export const isConfigured = (lane: string) =>
  lane.startsWith('configured/', 5) || lane.startsWith('taken/', 5)

const pattern = /^(test|live)\/(configured|taken|acknowledged|shared)(?:-\d)?\/(https?:\/\/[^/]+)/

type LaneParts = { kind: LaneKind; mode: Mode | undefined; group: string | undefined }

// A name that does not match the pattern counts as a shared lane.
export function laneParts(lane: string): LaneParts {
  const [, mode, kind, origin] = pattern.exec(lane) ?? []
  if (!kind) return { kind: 'shared', mode: undefined, group: lane }
  return {
    kind: kind as LaneKind,
    mode: mode as Mode,
    group: kind === 'configured' || kind === 'taken' ? undefined : `${mode}/${origin}`,
  }
}

// How often the addresses with one path were acknowledged: in the last 24 hours, and before.
export type PathCount = { path: string; paid: number; acknowledged: number; earlier: number }

// All paths of one merchant, in one mode, at one origin.
export type PathGroup = { merchant_id: string; mode: Mode; origin: string }

export const pathsOfGroup = 16 // a customer can name any number of paths that the shop's server answers

// The path acknowledged most comes first. Notifications of paid payments outrank the others: a customer has to pay for
// each, while a cancelled payment costs nothing. A shop without a sale for a day keeps the path that it had before.
export function rankPaths(counts: readonly PathCount[]): PathCount[] {
  return counts.toSorted(
    (a, b) =>
      b.paid - a.paid ||
      b.acknowledged - a.acknowledged ||
      b.earlier - a.earlier ||
      (a.path < b.path ? -1 : 1),
  )
}

export const mostInLane = 8
const failuresToOpen = 5
const firstPauseMs = 30_000
const longestPauseMs = 600_000
const stuckAfterMs = 1000

// The state of a lane in one process. It starts with one try at a time and doubles with every answer, so that an endpoint
// that hangs from the beginning occupies one slot. The breaker is open until `openUntil`, and nothing is sent; after that
// it is probing, with one try at a time.
export type Lane = {
  inFlight: number
  allowed: number
  failures: number // in a row
  openUntil: number | null // ms
  pauseMs: number
  movedAt: number // ms; when the last try ended, or the first one started
}

export const newLane = (): Lane => ({
  inFlight: 0,
  allowed: 1,
  failures: 0,
  openUntil: null,
  pauseMs: firstPauseMs,
  movedAt: 0,
})

// Written out because it runs for every try: a spread is slower.
export const withInFlight = (lane: Lane, inFlight: number, movedAt: number): Lane => ({
  inFlight,
  allowed: lane.allowed,
  failures: lane.failures,
  openUntil: lane.openUntil,
  pauseMs: lane.pauseMs,
  movedAt,
})

export type LaneBreakerState = 'closed' | 'open' | 'probing'

export function breakerOf({ openUntil }: Lane, now: number): LaneBreakerState {
  if (openUntil === null) return 'closed'
  const leftMs = openUntil - now // longer than any pause if the clock was set back
  return leftMs > 0 && leftMs <= longestPauseMs ? 'open' : 'probing'
}

const isBreakerOpen = (lane: Lane, now: number) => breakerOf(lane, now) === 'open'

export function roomIn(lane: Lane, now: number): number {
  const most = lane.openUntil === null ? lane.allowed : isBreakerOpen(lane, now) ? 0 : 1
  return Math.max(0, most - lane.inFlight)
}

// The lane after a try has ended. `started` distinguishes a probe from a try that was in flight when the breaker opened,
// whose failure is no new information. It is null for a try that was sent past the breaker.
export function afterTry(lane: Lane, result: Result, started: number | null, now: number): Lane {
  const { allowed, failures, openUntil, pauseMs } = lane
  const inFlight = lane.inFlight - 1
  if (!isTrouble(result))
    return {
      inFlight,
      allowed: Math.min(mostInLane, openUntil === null ? allowed * 2 : 2),
      failures: 0,
      openUntil: null,
      pauseMs: firstPauseMs,
      movedAt: now,
    }
  const failed = { ...lane, inFlight, allowed: 1, failures: failures + 1, movedAt: now }
  if (openUntil === null)
    return failed.failures < failuresToOpen ? failed : { ...failed, openUntil: now + pauseMs }
  if (started === null || isBreakerOpen(lane, started)) return failed
  const longer = Math.min(pauseMs * 2, longestPauseMs)
  return { ...failed, pauseMs: longer, openUntil: now + longer }
}

// No try has ended for a while.
export const isStuck = ({ inFlight, movedAt }: Lane, now: number) =>
  inFlight > 0 && now - movedAt >= stuckAfterMs

// Such a lane can be dropped: a new one starts in almost the same state.
export const isIdle = ({ inFlight, failures }: Lane) => inFlight === 0 && failures === 0
