import type { Mode } from '../../core/mode.ts'
import type { Candidate } from '../../core/notification/admit.ts'
import {
  type PathCount,
  type PathGroup,
  pathsOfGroup,
  rankPaths,
} from '../../core/notification/acknowledgedPath.ts'
import {
  acknowledgedLane,
  isConfigured,
  type RequestAddress,
  requestAddress,
  sharedLane,
} from '../../core/notification/laneName.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import type { Taken } from '../../store/notifications/deliveries.ts'
import {
  addAcknowledgements,
  findAcknowledgedPaths,
  type PathCounts,
} from '../../store/notifications/acknowledgedPaths.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const freshMs = 5000 // then the counts of the other nodes are read again
const writeNewMs = 2000 // a path that the database does not have yet
const writeMs = 60_000 // one that it has: a few more rarely change which one is first
const groupsKept = 10_000
const addressesKept = 5000
const rowsAtOnce = 500
const maxQueued = 5000

type Count = PathCount & { isStored: boolean }
type Unwritten = Pick<PathCount, 'paid' | 'acknowledged'> & { writeAt: number }

// An address with its lanes: most come again and again.
type KnownAddress = RequestAddress & Record<'acknowledged' | 'shared', Record<Mode, string>>

const knownAddress = (address: RequestAddress): KnownAddress => ({
  ...address,
  acknowledged: { test: acknowledgedLane(address, 'test'), live: acknowledgedLane(address, 'live') },
  shared: { test: sharedLane(address, 'test'), live: sharedLane(address, 'live') },
})

// The paths of one merchant, mode and origin, as this process knows them.
type Group = PathGroup & {
  counts: Map<string, Count>
  unwritten: Map<string, Unwritten>
  top: string | undefined
  readAt: number
  reading: Promise<void> | undefined
}
type Destination = Pick<Candidate, 'merchant_id' | 'mode' | 'url' | 'lane'>

// A path that has a lane of its own from now on: the address, the lane in which its deliveries were before, and the new
// one.
export type Promoted = { merchant_id: string; url: string; from: string; to: string }

export type AcknowledgedPathsOptions = {
  db: Db
  clock(): Date
  trouble(error: unknown): void
}

// Chooses the lane of each delivery when it is about to be sent or parked. For that it counts which paths are
// acknowledged, and adds the counts to the database every few seconds: so the knowledge survives a restart, and the
// nodes share it. Counts that are lost, or counted twice, do no harm.
export function createAcknowledgedPaths({ db, clock, trouble }: AcknowledgedPathsOptions) {
  const groups = new Map<string, Group>()
  const addresses = new Map<string, KnownAddress>()
  const dirty = new Set<Group>()
  let writing: Promise<void> | undefined
  let nextWriteAt = Infinity
  const reads = createBatcher<Group, PathCount[]>({
    run: some => findAcknowledgedPaths(db, some, new Date(clock().getTime() - dayMs)),
    maxRows: rowsAtOnce,
    maxInFlight: 1,
    maxQueued,
  })

  function addressOf(url: string): KnownAddress {
    const known = addresses.get(url)
    if (known) return known
    const address = knownAddress(requestAddress(url))
    dropOldest(addresses, addressesKept)
    addresses.set(url, address)
    return address
  }

  function groupOf({ merchant_id, mode }: { merchant_id: string; mode: Mode }, origin: string): Group {
    const key = `${merchant_id} ${mode} ${origin}`
    const known = groups.get(key)
    if (known) return known
    const group: Group = {
      merchant_id,
      mode,
      origin,
      counts: new Map(),
      unwritten: new Map(),
      top: undefined,
      readAt: -Infinity,
      reading: undefined,
    }
    dropOldest(groups, groupsKept)
    groups.set(key, group)
    return group
  }

  const isStale = ({ readAt }: Group) => performance.now() - readAt >= freshMs

  function read(group: Group): Promise<void> {
    group.reading ??= readNow(group).finally(() => (group.reading = undefined))
    return group.reading
  }

  async function readNow(group: Group) {
    const readAt = performance.now()
    const found = await reads.add(group)
    group.readAt = readAt
    group.counts = new Map(found.map(one => [one.path, { ...one, isStored: true }]))
    for (const [path, { paid, acknowledged }] of group.unwritten) addTo(group, path, paid, acknowledged)
    while (group.counts.size > pathsOfGroup) dropLast(group)
    group.top = topOf(group)
  }

  // By what is known now; what is stale is read for the next one.
  function laneOf(destination: Destination): string {
    if (isConfigured(destination.lane)) return destination.lane
    const address = addressOf(destination.url)
    const group = groupOf(destination, address.origin)
    if (isStale(group)) void read(group).catch(trouble)
    return laneIn(group, address)
  }

  // Puts each into its lane, after what is stale was read.
  async function assign(candidates: readonly Candidate[]) {
    const requested = candidates
      .filter(({ lane }) => !isConfigured(lane))
      .map(candidate => {
        const address = addressOf(candidate.url)
        return { candidate, address, group: groupOf(candidate, address.origin) }
      })
    const stale = new Set(requested.flatMap(({ group }) => (isStale(group) ? [group] : [])))
    await Promise.all([...stale].map(read))
    for (const { candidate, address, group } of requested) candidate.lane = laneIn(group, address)
  }

  // What was derived from the former lane goes with it.
  function reassign(candidate: Candidate) {
    candidate.lane = laneOf(candidate)
    candidate.lane_key = undefined
    candidate.quota = undefined
  }

  // Gives back the path if it has become the first.
  function countOne(taken: Pick<Taken, 'merchant_id' | 'mode' | 'url' | 'status'>): Promoted | undefined {
    const address = addressOf(taken.url)
    const { path } = address
    const group = groupOf(taken, address.origin)
    const paid = taken.status === 'paid' ? 1 : 0
    const { isStored } = addTo(group, path, paid, 1)
    if (group.counts.size > pathsOfGroup) dropLast(group, path)
    note(group, path, paid, isStored)
    if (group.top === path) return undefined
    group.top = topOf(group)
    if (group.top !== path) return undefined
    const { merchant_id, mode, url } = taken
    return { merchant_id, url, from: address.shared[mode], to: address.acknowledged[mode] }
  }

  function note(group: Group, path: string, paid: number, isStored: boolean) {
    const writeAt = performance.now() + (isStored ? writeMs : writeNewMs)
    nextWriteAt = Math.min(nextWriteAt, writeAt)
    const before = group.unwritten.get(path) ?? { paid: 0, acknowledged: 0, writeAt }
    group.unwritten.set(path, {
      paid: before.paid + paid,
      acknowledged: before.acknowledged + 1,
      writeAt: Math.min(before.writeAt, writeAt),
    })
    dirty.add(group)
  }

  function rowsToWrite(now: number): PathCounts[] {
    const hour = new Date(Math.floor(clock().getTime() / hourMs) * hourMs)
    const rows: PathCounts[] = []
    nextWriteAt = Infinity
    for (const group of dirty) {
      const { merchant_id, mode, origin, counts, unwritten } = group
      for (const [path, { paid, acknowledged, writeAt }] of unwritten) {
        if (writeAt > now || rows.length === rowsAtOnce) {
          nextWriteAt = Math.min(nextWriteAt, writeAt)
          continue
        }
        unwritten.delete(path)
        const stored = counts.get(path)
        if (!stored) continue // others are acknowledged more
        stored.isStored = true
        rows.push({ merchant_id, mode, origin, path, hour, paid, acknowledged })
      }
      if (unwritten.size === 0) dirty.delete(group)
    }
    return rows
  }

  function write(now: number): Promise<void> | undefined {
    if (writing) return writing
    if (now < nextWriteAt) return undefined
    const rows = rowsToWrite(now)
    if (rows.length === 0) return undefined
    writing = addAcknowledgements(db, rows)
      .then(() => undefined, trouble)
      .finally(() => (writing = undefined))
    return writing
  }

  return {
    laneOf,
    assign,
    reassign,
    acknowledged: countOne,
    flush: () => void write(performance.now()),
    async flushed() {
      await writing
      while (dirty.size > 0) await write(Infinity)
      await writing
    },
  }
}

const laneIn = ({ top, mode }: Group, { path, acknowledged, shared }: KnownAddress) =>
  (top === path ? acknowledged : shared)[mode]

function addTo({ counts }: Group, path: string, paid: number, acknowledged: number): Count {
  const before = counts.get(path) ?? { path, paid: 0, acknowledged: 0, earlier: 0, isStored: false }
  const after = { ...before, paid: before.paid + paid, acknowledged: before.acknowledged + acknowledged }
  counts.set(path, after)
  return after
}

const topOf = ({ counts }: Group) => rankPaths([...counts.values()])[0]?.path

// The last of the others: one that is new stays, or it could never rise.
function dropLast({ counts }: Group, path?: string) {
  const others = [...counts.values()].filter(count => count.path !== path)
  const last = rankPaths(others).at(-1)
  if (last) counts.delete(last.path)
}

function dropOldest<Value>(map: Map<string, Value>, kept: number) {
  if (map.size >= kept) map.delete(map.keys().next().value as string)
}
