import { mayRun, type NodeRow } from './nodeList.ts'

// How many secrets each master key seals: data keys of merchants and accounts, and that of the installation.
export type KeyUse = { master_key_id: string; rows: number; seals_installation: boolean }

// The rows of nodes that have died stay for an hour.
export const keysOfRunning = (rows: readonly Pick<NodeRow, 'seen_ms_ago' | 'key_ids'>[]) =>
  new Set(rows.filter(mayRun).flatMap(({ key_ids }) => key_ids))

type Keys = { inUse: readonly KeyUse[]; held: (id: string) => boolean; heldByOthers: ReadonlySet<string> }

// The id of a master key without which this node must not take requests: it seals the secrets of the installation, another
// node has it, or no secret at all opens here. Undefined if this node has what it needs. A few secrets that no node can
// open are no reason: they are a task for the operator, and the other merchants go on.
export function neededKey({ inUse, held, heldByOthers }: Keys): string | undefined {
  const missing = inUse.filter(({ master_key_id }) => !held(master_key_id))
  if (missing.length === inUse.length) return missing[0]?.master_key_id
  return missing.find(use => use.seals_installation || heldByOthers.has(use.master_key_id))?.master_key_id
}
