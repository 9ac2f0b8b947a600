import {
  blackHole,
  cutCommits,
  exhaustedConnections,
  heldRows,
  partedNetworks,
  partedNodes,
  slowDatabase,
} from './connections.ts'
import { failover, oldPrimary } from './failover.ts'
import type { Installation } from '../installation.ts'
import type { Fault } from './fault.ts'
import { databaseClock, failedSyncs, fullDisk } from './machine.ts'
import { badMerchants, lostReplies } from './parties.ts'
import {
  allNodesKilled,
  killedDatabase,
  killedNodes,
  nodeClocks,
  restartedDatabase,
  stoppedNode,
} from './processes.ts'
import { lostWorker } from './worker.ts'

export const faults: readonly Fault[] = [
  killedNodes,
  allNodesKilled,
  restartedDatabase,
  killedDatabase,
  failover,
  oldPrimary,
  lostWorker,
  cutCommits,
  slowDatabase,
  blackHole,
  partedNodes,
  partedNetworks,
  exhaustedConnections,
  heldRows,
  badMerchants,
  lostReplies,
  stoppedNode,
  nodeClocks,
  fullDisk,
  failedSyncs,
  databaseClock,
]

export type SkippedFault = { fault: Fault; needs: string }

// Those that can be injected here, and those for which something is missing.
export function sortOut(wanted: readonly Fault[], installation: Installation) {
  const skipped: SkippedFault[] = wanted.flatMap(fault => {
    const needs = fault.needs?.(installation)
    return needs ? [{ fault, needs }] : []
  })
  return { skipped, possible: wanted.filter(fault => !skipped.some(one => one.fault === fault)) }
}
