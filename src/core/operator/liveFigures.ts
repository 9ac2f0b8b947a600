import { isBackupOld } from '../backup/backupAge.ts'
import type { Mode } from '../mode.ts'
import {
  addMinuteCounts,
  endedIn,
  endedTotal,
  type MinuteCounts,
  minuteMs,
  noMinuteCounts,
  successRate,
} from './minuteCounts.ts'
import type { ListedNode } from './nodeList.ts'

// The rows of all nodes for one minute, or of one node.
export type MinuteRow = {
  minute: Date
  started_live: number
  started_test: number
  counts: MinuteCounts
}

export type FlowPoint = { minute: Date; started: number; notPaid: number } // a second

export const sumMinutes = (rows: readonly MinuteRow[]): MinuteCounts =>
  rows.reduce((sum, { counts }) => addMinuteCounts(sum, counts), noMinuteCounts)

const startedIn = (row: MinuteRow, mode: Mode) => (mode === 'live' ? row.started_live : row.started_test)

// One point for each minute, without gaps. `until` is not included.
export function flowPoints(rows: readonly MinuteRow[], mode: Mode, from: Date, until: Date): FlowPoint[] {
  const points: FlowPoint[] = []
  for (let at = from.getTime(); at < until.getTime(); at += minuteMs) {
    const own = rows.filter(({ minute }) => minute.getTime() === at)
    const started = own.reduce((sum, row) => sum + startedIn(row, mode), 0)
    const ended = endedIn(sumMinutes(own).ended, mode)
    points.push({
      minute: new Date(at),
      started: started / 60,
      notPaid: (endedTotal(ended) - ended.paid) / 60,
    })
  }
  return points
}

// New payments a second over the last whole minute and the part of the present one.
export function startedPerSecond(rows: readonly MinuteRow[], mode: Mode, now: Date): number {
  const present = Math.floor(now.getTime() / minuteMs) * minuteMs
  const from = present - minuteMs
  const started = rows
    .filter(({ minute }) => minute.getTime() >= from)
    .reduce((sum, row) => sum + startedIn(row, mode), 0)
  return started / ((now.getTime() - from) / 1000)
}

// The success rate, and the difference to the same time of the day before in points.
export function comparedRate(now: readonly MinuteRow[], before: readonly MinuteRow[], mode: Mode) {
  const rate = successRate(endedIn(sumMinutes(now).ended, mode))
  const former = successRate(endedIn(sumMinutes(before).ended, mode))
  return { rate, difference: rate === undefined || former === undefined ? undefined : (rate - former) * 100 }
}

// What needs a person, the most urgent first.
export type Concern =
  | { kind: 'copy' | 'moved' }
  | { kind: 'all_down'; accounts: readonly string[] }
  | { kind: 'old_primary'; hosts: readonly string[] }
  | { kind: 'refused'; account: string }
  | { kind: 'down'; account: string }
  | {
      kind: 'keyless_node' | 'gone_node' | 'silent_node' | 'paused_node' | 'clock_node' | 'older_node'
      node: string
    }
  | { kind: 'unreadable_secrets'; merchants: readonly string[] }
  | { kind: 'no_backup' }
  | { kind: 'old_backup'; hours: number }
  | { kind: 'no_workers' }
  | { kind: 'tasks'; open: number }
  | { kind: 'endpoints'; failing: number }
  | { kind: 'degraded'; account: string }

export type JudgedAccount = { account: string; health: string; isRefused: boolean; isDisabled: boolean }
export const nodeStates = [
  'good',
  'gone',
  'silent',
  'lacks_key',
  'paused',
  'clock_off',
  'older_schema',
  'unlisted',
] as const
export type NodeState = (typeof nodeStates)[number]

const maxClockOffsetMs = 250

// `schema`: the newest among all nodes. `lacksKey`: a master key that is in use is missing there.
export function nodeStateOf({ presence, row }: ListedNode, schema: number, lacksKey: boolean): NodeState {
  if (!row) return 'unlisted'
  if (presence !== 'running') return presence
  if (lacksKey) return 'lacks_key'
  if (row.is_paused) return 'paused'
  if (row.schema < schema) return 'older_schema'
  return Math.abs(row.clock_offset_ms) > maxClockOffsetMs ? 'clock_off' : 'good'
}

export function findConcerns(live: {
  now: Date
  installation: 'original' | 'copy' | 'moved'
  oldPrimaries: readonly string[] // hosts
  lastBackupAt?: Date
  takesLivePayments: boolean // without them nobody misses a backup
  accounts: readonly JudgedAccount[]
  nodes: readonly { name: string; state: NodeState }[]
  lackWorkers: boolean
  unreadable: readonly string[] // merchants whose secrets cannot be opened
  openTasks: number
  failingEndpoints: number
}): Concern[] {
  const { now, installation, oldPrimaries, lastBackupAt, takesLivePayments } = live
  const { nodes, unreadable, openTasks, failingEndpoints } = live
  const accounts = live.accounts.filter(({ isDisabled }) => !isDisabled)
  const down = accounts.filter(({ health }) => health === 'down')
  const concerns: Concern[] = []
  if (installation !== 'original') concerns.push({ kind: installation })
  if (down.length > 0 && down.length === accounts.length)
    concerns.push({ kind: 'all_down', accounts: down.map(({ account }) => account) })
  if (oldPrimaries.length > 0) concerns.push({ kind: 'old_primary', hosts: oldPrimaries })
  for (const { name, state } of nodes)
    if (state === 'lacks_key') concerns.push({ kind: 'keyless_node', node: name })
  if (live.lackWorkers) concerns.push({ kind: 'no_workers' })
  for (const { account } of accounts.filter(({ isRefused }) => isRefused))
    concerns.push({ kind: 'refused', account })
  for (const { account, isRefused } of down) if (!isRefused) concerns.push({ kind: 'down', account })
  for (const { name, state } of nodes) {
    if (state === 'gone') concerns.push({ kind: 'gone_node', node: name })
    if (state === 'silent') concerns.push({ kind: 'silent_node', node: name })
    if (state === 'paused') concerns.push({ kind: 'paused_node', node: name })
    if (state === 'clock_off') concerns.push({ kind: 'clock_node', node: name })
    if (state === 'older_schema') concerns.push({ kind: 'older_node', node: name })
  }
  if (unreadable.length > 0) concerns.push({ kind: 'unreadable_secrets', merchants: unreadable })
  if (takesLivePayments && !lastBackupAt) concerns.push({ kind: 'no_backup' })
  if (takesLivePayments && lastBackupAt && isBackupOld(lastBackupAt, now))
    concerns.push({
      kind: 'old_backup',
      hours: Math.floor((now.getTime() - lastBackupAt.getTime()) / 3_600_000),
    })
  if (openTasks > 0) concerns.push({ kind: 'tasks', open: openTasks })
  if (failingEndpoints > 0) concerns.push({ kind: 'endpoints', failing: failingEndpoints })
  for (const { account, health } of accounts)
    if (health === 'degraded') concerns.push({ kind: 'degraded', account })
  return concerns
}
