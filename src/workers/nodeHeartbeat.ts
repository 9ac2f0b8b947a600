import type { Heartbeats } from '../runtime/heartbeats.ts'
import { heartbeatMs, type NodeFacts } from '../core/operator/nodeList.ts'
import { newLeaseToken } from '../runtime/ids.ts'
import type { Db } from '../store/db.ts'
import { removeNode, removeNodesUnseenFor, saveHeartbeat } from '../store/installation/nodes.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Node } from './node.ts'

const timeoutMs = 5000
const removeAfterMs = 3_600_000 // a node that has died stays in the list for so long
const removeEveryMs = 3_600_000

type HeartbeatOptions = {
  db: Db
  node: Pick<Node, 'presence' | 'onConnected'>
  facts(): NodeFacts
  trouble(error: unknown): void
  heartbeats?: Heartbeats
}

// Writes every ten seconds what other nodes, commands and operators need to know about this one: one statement, also
// while the node is idle. It does not pause with the workers, and needs no connection of its own, so it works behind every
// pooler.
export function startHeartbeat({ db, node, facts, trouble, heartbeats }: HeartbeatOptions): Loop {
  const id = newLeaseToken()
  const inTime = () => db.withQuota('health').withDeadline(performance.now() + timeoutMs)
  let removeAt = 0
  const loop = startLoop({
    restMs: heartbeatMs,
    async step() {
      await saveHeartbeat(inTime(), { ...facts(), ...node.presence(), node: id })
      if (performance.now() < removeAt) return
      removeAt = performance.now() + removeEveryMs
      await removeNodesUnseenFor(inTime(), removeAfterMs)
    },
    onTrouble: trouble,
    heartbeat: heartbeats?.of('nodeHeartbeat'),
  })
  node.onConnected(loop.wake)
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await removeNode(inTime(), id).catch(() => {}) // without a database the row ends by its time
    },
  }
}
