import { hash } from 'node:crypto'
import type { Mode } from '../mode.ts'

// A lane is what deliveries share: a circuit breaker and a number of tries in flight. Who decides the address of a
// delivery decides its lane, so that an address that a customer wrote into a form never stops another one:
//
// - `configured`: the address is the merchant's `ipn_url` setting.
// - `acknowledged`: a request named the address, and its path was acknowledged most of all paths of its origin in the
//   last 24 hours.
// - `shared-1` to `shared-3`: a request named the address, and it has another path. The path chooses the lane by hash.
//
// Every lane belongs to one merchant, one mode and one origin. All but the configured lane are request lanes; those of
// one origin are a group. Query and fragment are ignored.
const sharedLanes = 3
const digestLength = 24 // 96 bits: nobody finds a second path with the digest of the first

export type LaneKind = 'configured' | 'acknowledged' | 'shared'
export type RequestAddress = { origin: string; path: string } // path: a digest of it

// The address of a request without what does not count.
export function requestAddress(url: string): RequestAddress {
  const parsed = new URL(url)
  return { origin: originOf(parsed), path: digestOf(parsed.pathname) }
}

const originOf = ({ protocol, hostname, port }: URL) =>
  `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`

const digestOf = (text: string) => hash('sha256', text, 'hex').slice(0, digestLength)

// The lane that a delivery is stored with. Only the dispatcher knows which path is acknowledged most, so a request's
// delivery is stored in a shared lane, and moves to the other when it is sent or parked.
export const laneOf = (url: string, mode: Mode, settings: { ipn_url: string | null }): string =>
  url === settings.ipn_url ? configuredLane(url, mode) : sharedLane(requestAddress(url), mode)

// Another address in the settings is another lane: failures of the former one do not stop it.
const configuredLane = (url: string, mode: Mode) =>
  `${mode}/configured/${originOf(new URL(url))}/${digestOf(url)}`

export const acknowledgedLane = ({ origin, path }: RequestAddress, mode: Mode) =>
  `${mode}/acknowledged/${origin}/${path}`

export const sharedLane = ({ origin, path }: RequestAddress, mode: Mode) =>
  `${mode}/shared-${1 + (Number.parseInt(path.slice(0, 8), 16) % sharedLanes)}/${origin}`

// Asked for every delivery that is due. Both modes have four letters.
export const isConfigured = (lane: string) => lane.startsWith('configured/', 5)

const pattern = /^(test|live)\/(configured|acknowledged|shared)(?:-\d)?\/(https?:\/\/[^/]+)/

export type LaneParts = { kind: LaneKind; mode: Mode | undefined; group: string | undefined }

// A name that does not match the pattern counts as a shared lane.
export function laneParts(lane: string): LaneParts {
  const [, mode, kind, origin] = pattern.exec(lane) ?? []
  if (!kind) return { kind: 'shared', mode: undefined, group: lane }
  return {
    kind: kind as LaneKind,
    mode: mode as Mode,
    group: kind === 'configured' ? undefined : `${mode}/${origin}`,
  }
}
