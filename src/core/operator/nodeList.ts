// The nodes of this installation, from two sources: the rows of the table `nodes`, which each node overwrites every ten
// seconds, and the advisory locks that nodes hold on their own connections (core/nodes.ts). A lock shows at once that a
// node has died. A node behind a transaction-mode pooler has no lock, and one of a release before 0.3 has no row.

export const heartbeatMs = 10_000
const runsForMs = 3 * heartbeatMs // after its last heartbeat

// TOLLGATE_ROLE. A web node takes payments and runs no workers, a worker node runs workers and takes no payments.
export const nodeRoles = ['all', 'web', 'worker'] as const
export type NodeRole = (typeof nodeRoles)[number]

// What a node writes about itself.
export type NodeFacts = {
  name: string
  listens_at: string
  version: string
  schema: number
  key_ids: readonly string[]
  database_address: string
  clock_offset_ms: number
  is_paused: boolean
  role: NodeRole
}

export type NodeRow = NodeFacts & {
  node: string
  number: number
  is_listening: boolean
  started_at: Date
  seen_at: Date
  seen_ms_ago: number
}

// running: it wrote its row within 30 s, and holds its lock if it did then.
// silent: it holds its lock, and its row is old: it hangs, or cannot write.
// gone: it has died, or lost the database.
// unlisted: a lock without a row, a node of an earlier release.
export type NodePresence = 'running' | 'silent' | 'gone' | 'unlisted'

export type ListedNode = { number: number; presence: NodePresence; row?: NodeRow }

// `locked`: the numbers of the locks that are held. A node that has died is not listed if another process runs at its
// address: it was restarted.
export function nodeList(rows: readonly NodeRow[], locked: readonly number[]): ListedNode[] {
  const listed = rows.map(row => ({ number: row.number, row, presence: presenceOf(row, locked) }))
  const isGone = ({ presence }: ListedNode) => presence === 'gone'
  const addressOf = ({ row: { name, listens_at } }: { row: NodeRow }) => `${name} ${listens_at}`
  const present = listed.filter(one => !isGone(one))
  const addresses = new Set(present.map(addressOf))
  return [
    ...present,
    ...withoutRow(rows, locked).map(({ number }) => ({ number, presence: 'unlisted' as const })),
    ...listed.filter(one => isGone(one) && !addresses.has(addressOf(one))),
  ]
}

// Every node that may run, for what must not overlook one: also one that has just lost its lock, and connects again.
export const nodesThatMayRun = (rows: readonly NodeRow[], locked: readonly number[]) => [
  ...rows.filter(row => mayRun(row) || locked.includes(row.number)).map(row => ({ number: row.number, row })),
  ...withoutRow(rows, locked),
]

const withoutRow = (
  rows: readonly NodeRow[],
  locked: readonly number[],
): { number: number; row?: NodeRow }[] => {
  const numbers = new Set(rows.map(({ number }) => number))
  return locked.filter(number => !numbers.has(number)).map(number => ({ number }))
}

function presenceOf(
  { number, is_listening, seen_ms_ago }: NodeRow,
  locked: readonly number[],
): 'running' | 'silent' | 'gone' {
  const hasLock = locked.includes(number)
  if (!mayRun({ seen_ms_ago })) return hasLock ? 'silent' : 'gone'
  return is_listening && !hasLock ? 'gone' : 'running'
}

// Whether a node may still run, by its last heartbeat. One that has lost its lock may be connecting again.
export const mayRun = ({ seen_ms_ago }: Pick<NodeRow, 'seen_ms_ago'>) => seen_ms_ago <= runsForMs

const noWorkerMs = 60_000

const hasWorkers = ({ role, seen_ms_ago }: NodeRow) => role !== 'web' && seen_ms_ago < noWorkerMs
const hasServedLong = ({ role, seen_ms_ago, started_at, seen_at }: NodeRow) =>
  role === 'web' && seen_ms_ago <= runsForMs && seen_at.getTime() - started_at.getTime() >= noWorkerMs

// Whether web nodes have run for a minute in which no node with workers was seen: notifications, messages and polls wait
// for one. Nodes of an earlier release have workers.
export function lackWorkers(nodes: readonly ListedNode[]): boolean {
  const rows = nodes.flatMap(({ row }) => row ?? [])
  const hasUnlisted = nodes.some(({ presence }) => presence === 'unlisted')
  return rows.some(hasServedLong) && !rows.some(hasWorkers) && !hasUnlisted
}
