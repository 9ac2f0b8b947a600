import { nodeStateOf } from '../../core/operator/liveFigures.ts'
import { keysOfRunning, type KeyUse, neededKey } from '../../core/operator/masterKeyNeed.ts'
import { nodeList, type NodeRow } from '../../core/operator/nodeList.ts'
import type { Db } from '../../store/db.ts'
import { keyUses } from '../../store/installation/keyUse.ts'
import { nodeRows } from '../../store/installation/nodes.ts'
import { presentNodes } from '../../store/nodeSession.ts'

export type JudgedNode = Awaited<ReturnType<typeof listNodes>>[number]

// The nodes on this database, those that have died last.
export async function listNodes(db: Db) {
  const [rows, locked, inUse] = await Promise.all([nodeRows(db), presentNodes(db), keyUses(db)])
  const newestSchema = Math.max(0, ...rows.map(({ schema }) => schema))
  return nodeList(rows, locked).map(node => ({
    ...node,
    name: node.row?.name ?? '?',
    state: nodeStateOf(node, newestSchema, node.row !== undefined && lacksKey(node.row, rows, inUse)),
  }))
}

// By the same rule as the node itself, which is not ready then.
function lacksKey({ key_ids }: NodeRow, rows: readonly NodeRow[], inUse: readonly KeyUse[]): boolean {
  const held = (id: string) => key_ids.includes(id)
  if (inUse.every(({ master_key_id }) => held(master_key_id))) return false
  return neededKey({ inUse, held, heldByOthers: keysOfRunning(rows) }) !== undefined
}
