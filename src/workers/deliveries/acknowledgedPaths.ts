import type { Mode } from '../../core/mode.ts'
import type { Candidate } from '../../core/notification/admit.ts'
import {
  acknowledgedLane,
  isConfigured,
  type PathCount,
  type PathGroup,
  pathsOfGroup,
  rankPaths,
  type RequestAddress,
  requestAddress,
  sharedLane,
} from '../../core/notification/lane.ts'
import { type Batcher, createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import {
  addAcknowledgements,
  findAcknowledgedPaths,
  type PathCounts,
} from '../../store/notifications/acknowledgedPaths.ts'
import type { LeasedDelivery } from '../../store/notifications/deliveries.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const freshMs = 5000 // then the counts of the other nodes are read again
const writeNewMs = 2000 // for a path that is not in the database yet
const writeMs = 60_000 // for a stored path: a few more acknowledgements rarely change the order
const maxGroups = 10_000
const maxAddresses = 5000
const rowsAtOnce = 500
const maxQueued = 5000

type Count = PathCount & { isStored: boolean }
type Unwritten = Pick<PathCount, 'paid' | 'acknowledged'> & { writeAt: number }

// An address with the names of its lanes. Cached, because most addresses come again and again.
type KnownAddress = RequestAddress & Record<'acknowledged' | 'shared', Record<Mode, string>>

const knownAddress = (address: RequestAddress): KnownAddress => ({
  ...address,
  acknowledged: { test: acknowledgedLane(address, 'test'), live: acknowledgedLane(address, 'live') },
  shared: { test: sharedLane(address, 'test'), live: sharedLane(address, 'live') },
})

// The paths of one merchant, mode and origin.
type Group = PathGroup & {
  counts: Map<string, Count> // by path: the counts of all nodes as last read, and this node's since then
  unwritten: Map<string, Unwritten> // by path: this node's counts that are not in the database yet
  top: string | undefined // the path acknowledged most
  readAt: number
  reading: Promise<void> | undefined
}
type Recipient = Pick<Candidate, 'merchant_id' | 'mode' | 'url' | 'lane'>

// A path that is the top of its group now: the lane of its deliveries before, and the new one.
export type PromotedPath = { merchant_id: string; url: string; from: string; to: string }

type AcknowledgedPathsOptions = {
  db: Db
  clock(): Date
  trouble(error: unknown): void
}

// Chooses between the acknowledged and the shared lane of a delivery when it is about to be sent or parked. For that it
// counts which paths are acknowledged, in groups. A group is *stale* until its counts are read from the database, and
// again 5 s later; *reading*; or *fresh*. An acknowledgement is first counted in memory, where it may promote its path at
// once. It is *unwritten* until a batch adds it to the database, every few seconds or minutes. So the counts survive a
// restart, and the nodes share them. Counts that are lost or counted twice do no harm.
export class AcknowledgedPaths {
  readonly #options: AcknowledgedPathsOptions
  readonly #groups = new Map<string, Group>()
  readonly #addresses = new Map<string, KnownAddress>()
  readonly #dirty = new Set<Group>() // groups with unwritten counts
  readonly #reads: Batcher<Group, PathCount[]>
  #writing: Promise<void> | undefined
  #nextWriteAt = Infinity

  constructor(options: AcknowledgedPathsOptions) {
    this.#options = options
    this.#reads = createBatcher<Group, PathCount[]>({
      run: some => findAcknowledgedPaths(options.db, some, new Date(options.clock().getTime() - dayMs)),
      maxRows: rowsAtOnce,
      maxInFlight: 1,
      maxQueued,
    })
  }

  // By the counts in memory. A stale group is read for the next call.
  laneOf = (recipient: Recipient): string => {
    if (isConfigured(recipient.lane)) return recipient.lane
    const address = this.#addressOf(recipient.url)
    const group = this.#groupOf(recipient, address.origin)
    if (isStale(group)) void this.#read(group).catch(this.#options.trouble)
    return laneIn(group, address)
  }

  // Sets the lane of each candidate, after stale groups were read.
  assignLanes = async (candidates: readonly Candidate[]) => {
    const requested = candidates
      .filter(({ lane }) => !isConfigured(lane))
      .map(candidate => {
        const address = this.#addressOf(candidate.url)
        return { candidate, address, group: this.#groupOf(candidate, address.origin) }
      })
    const stale = new Set(requested.flatMap(({ group }) => (isStale(group) ? [group] : [])))
    await Promise.all([...stale].map(group => this.#read(group)))
    for (const { candidate, address, group } of requested) candidate.lane = laneIn(group, address)
  }

  // Also drops the values that were computed from the former lane.
  reassignLane(candidate: Candidate) {
    candidate.lane = this.laneOf(candidate)
    candidate.lane_key = undefined
    candidate.quota = undefined
  }

  // Counts one acknowledgement. Returns the path if it has become the top of its group.
  count(delivery: Pick<LeasedDelivery, 'merchant_id' | 'mode' | 'url' | 'status'>): PromotedPath | undefined {
    const { merchant_id, mode, url, status } = delivery
    const address = this.#addressOf(url)
    const { path } = address
    const group = this.#groupOf(delivery, address.origin)
    const paid = status === 'paid' ? 1 : 0
    const { isStored } = addTo(group, path, paid, 1)
    if (group.counts.size > pathsOfGroup) dropLast(group, path)
    this.#addUnwritten(group, path, paid, isStored)
    if (group.top === path) return undefined
    group.top = topOf(group)
    if (group.top !== path) return undefined
    return { merchant_id, url, from: address.shared[mode], to: address.acknowledged[mode] }
  }

  // Starts a write if one is due.
  flush() {
    void this.#write(performance.now())
  }

  async flushed() {
    await this.#writing
    while (this.#dirty.size > 0) await this.#write(Infinity)
    await this.#writing
  }

  #addressOf(url: string): KnownAddress {
    const known = this.#addresses.get(url)
    if (known) return known
    const address = knownAddress(requestAddress(url))
    dropOldest(this.#addresses, maxAddresses)
    this.#addresses.set(url, address)
    return address
  }

  #groupOf({ merchant_id, mode }: { merchant_id: string; mode: Mode }, origin: string): Group {
    const key = `${merchant_id} ${mode} ${origin}`
    const known = this.#groups.get(key)
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
    dropOldest(this.#groups, maxGroups)
    this.#groups.set(key, group)
    return group
  }

  #read(group: Group): Promise<void> {
    group.reading ??= this.#readNow(group).finally(() => (group.reading = undefined))
    return group.reading
  }

  async #readNow(group: Group) {
    const readAt = performance.now()
    const found = await this.#reads.add(group)
    group.readAt = readAt
    group.counts = new Map(found.map(one => [one.path, { ...one, isStored: true }]))
    for (const [path, { paid, acknowledged }] of group.unwritten) addTo(group, path, paid, acknowledged)
    while (group.counts.size > pathsOfGroup) dropLast(group)
    group.top = topOf(group)
  }

  #addUnwritten(group: Group, path: string, paid: number, isStored: boolean) {
    const writeAt = performance.now() + (isStored ? writeMs : writeNewMs)
    this.#nextWriteAt = Math.min(this.#nextWriteAt, writeAt)
    const before = group.unwritten.get(path) ?? { paid: 0, acknowledged: 0, writeAt }
    group.unwritten.set(path, {
      paid: before.paid + paid,
      acknowledged: before.acknowledged + 1,
      writeAt: Math.min(before.writeAt, writeAt),
    })
    this.#dirty.add(group)
  }

  #write(now: number): Promise<void> | undefined {
    if (this.#writing) return this.#writing
    if (now < this.#nextWriteAt) return undefined
    const rows = this.#rowsToWrite(now)
    if (rows.length === 0) return undefined
    const { db, trouble } = this.#options
    this.#writing = addAcknowledgements(db, rows)
      .then(() => undefined, trouble)
      .finally(() => (this.#writing = undefined))
    return this.#writing
  }

  #rowsToWrite(now: number): PathCounts[] {
    const hour = new Date(Math.floor(this.#options.clock().getTime() / hourMs) * hourMs)
    const rows: PathCounts[] = []
    this.#nextWriteAt = Infinity
    for (const group of this.#dirty) {
      const { merchant_id, mode, origin, counts, unwritten } = group
      for (const [path, { paid, acknowledged, writeAt }] of unwritten) {
        if (writeAt > now || rows.length === rowsAtOnce) {
          this.#nextWriteAt = Math.min(this.#nextWriteAt, writeAt)
          continue
        }
        unwritten.delete(path)
        const count = counts.get(path)
        if (!count) continue // dropped: other paths are acknowledged more
        count.isStored = true
        rows.push({ merchant_id, mode, origin, path, hour, paid, acknowledged })
      }
      if (unwritten.size === 0) this.#dirty.delete(group)
    }
    return rows
  }
}

const isStale = ({ readAt }: Group) => performance.now() - readAt >= freshMs

const laneIn = ({ top, mode }: Group, { path, acknowledged, shared }: KnownAddress) =>
  (top === path ? acknowledged : shared)[mode]

function addTo({ counts }: Group, path: string, paid: number, acknowledged: number): Count {
  const before = counts.get(path) ?? { path, paid: 0, acknowledged: 0, earlier: 0, isStored: false }
  const after = { ...before, paid: before.paid + paid, acknowledged: before.acknowledged + acknowledged }
  counts.set(path, after)
  return after
}

const topOf = ({ counts }: Group) => rankPaths([...counts.values()])[0]?.path

// Drops the path acknowledged least, but not `path`: a new path has to stay, or it could never rise.
function dropLast({ counts }: Group, path?: string) {
  const others = [...counts.values()].filter(count => count.path !== path)
  const last = rankPaths(others).at(-1)
  if (last) counts.delete(last.path)
}

function dropOldest<Value>(map: Map<string, Value>, max: number) {
  if (map.size >= max) map.delete(map.keys().next().value as string)
}
