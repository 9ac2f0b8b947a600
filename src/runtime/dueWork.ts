import { type DueKind, dueKinds, type DueTimes } from '../core/dueKinds.ts'

// What this node knows about work that is due, so that idle workers do not search for it. A due check (workers/dueChecks.ts)
// reads by one statement when the earliest work of each kind is due. A worker then skips its search while nothing is due.
// Its search runs if one of these is true:
//
// - the last due check found that work of its kind is due by now
// - it was woken, or its last search found work: there may be more
// - it has not searched for a minute, in case that a due check is wrong
// - there is no recent due check, or wake-ups of other nodes do not arrive: then it searches as often as it can
//
// The node is *busy* for ten seconds after it did or stored something, else *quiet*. Busy nodes check more often.

export type SearchGate = {
  mayBeDue(kind: DueKind): boolean
  begins(kind: DueKind): boolean // the same; if true, the search is expected to run now
  reopen(...kinds: DueKind[]): void // the next search is not skipped
}

type Search = () => Promise<number | void>

export type GatedWork = SearchGate & {
  active(): void // this process did or stored something
  // Runs the search only if work may be due, or if it is needed for another reason. Work that was found, and an error, keep
  // the gate open for the next search.
  gated(kind: DueKind, search: Search, isNeeded?: () => boolean): Search
}

export type DueWork = GatedWork & {
  checked(startedAt: number, times: DueTimes): void // the result of a due check that began at this time of performance.now()
  failed(): void // a due check failed: until the next one, workers search
  isBusy(): boolean
  onBusy(listener: () => void): void // called when a quiet node becomes busy
}

const busyMs = 10_000
const trustMs = 7000 // longer than two due checks of a quiet node
const searchAtLeastMs = 60_000

type Options = {
  clock(): Date
  receivesWakeUps(): boolean // wake-ups of other nodes arrive
  random(): number
  monotonicMs?(): number
}

type Kind = { dueAt: number; isWoken: boolean; searchAgainAt: number }

export function createDueWork({
  clock,
  receivesWakeUps,
  random,
  monotonicMs = () => performance.now(),
}: Options): DueWork {
  const kinds = new Map<DueKind, Kind>(
    dueKinds.map(kind => [kind, { dueAt: -Infinity, isWoken: false, searchAgainAt: -Infinity }]),
  )
  const of = (kind: DueKind) => kinds.get(kind) as Kind
  let checkedAt = -Infinity
  let busyUntil = -Infinity
  let onBusy: (() => void) | undefined

  const isTrusted = () => receivesWakeUps() && monotonicMs() - checkedAt < trustMs
  const isBusy = () => monotonicMs() < busyUntil

  function active() {
    const wasBusy = isBusy()
    busyUntil = monotonicMs() + busyMs
    if (!wasBusy) onBusy?.()
  }

  const isDueBy = ({ dueAt }: Kind) => dueAt <= clock().getTime()

  function mayBeDue(kind: DueKind): boolean {
    const one = of(kind)
    return !isTrusted() || isDueBy(one) || one.isWoken || monotonicMs() >= one.searchAgainAt
  }

  const nextSearchAt = () => monotonicMs() + searchAtLeastMs * (1 + random() / 4)

  function begins(kind: DueKind): boolean {
    if (!mayBeDue(kind)) return false
    const one = of(kind)
    if (isDueBy(one)) one.dueAt = Infinity // until the next check
    one.isWoken = false
    one.searchAgainAt = nextSearchAt()
    return true
  }

  function reopen(...reopened: DueKind[]) {
    for (const kind of reopened) of(kind).isWoken = true
  }

  return {
    mayBeDue,
    begins,
    reopen,
    gated: (kind, search, isNeeded) => async () => {
      if (!begins(kind)) {
        if (!isNeeded?.()) return 0
        of(kind).searchAgainAt = nextSearchAt()
      }
      try {
        const found = await search()
        if (found) {
          reopen(kind)
          active()
        }
        return found
      } catch (error) {
        reopen(kind)
        throw error
      }
    },
    checked(startedAt, times) {
      checkedAt = startedAt
      for (const kind of dueKinds) of(kind).dueAt = times[kind] ?? Infinity
    },
    active,
    failed: () => void (checkedAt = -Infinity),
    isBusy,
    onBusy: listener => void (onBusy = listener),
  }
}

// Workers without due checks always search: those of tests and of the benchmark.
export const alwaysSearching: GatedWork = {
  mayBeDue: () => true,
  begins: () => true,
  reopen() {},
  gated: (_, search) => search,
  active() {},
}
