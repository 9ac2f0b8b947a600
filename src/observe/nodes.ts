import { type NodeState, nodeStates } from '../core/operator/liveFigures.ts'
import { type ListedNode, nodeRoles } from '../core/operator/nodeList.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import { type Metrics, sharedReading } from './metrics.ts'

type NodeGauges = {
  version: string
  schema: number
  heartbeats: Pick<Heartbeats, 'overdueMs'>
  nodes(): Promise<readonly (ListedNode & { state: NodeState })[]>
}

// Which release this node runs, the nodes that it sees, and whether its workers run.
export function gaugeNodes({ gauge }: Metrics, { version, schema, heartbeats, nodes }: NodeGauges) {
  gauge(
    'tollgate_build_info',
    'Always 1: the version of this node, and its schema.',
    ['version', 'schema'],
    info => info.set({ version, schema: String(schema) }, 1),
  )
  const listed = sharedReading(nodes)
  gauge('tollgate_nodes', 'Nodes on the database by state, as in the live view.', ['state'], async seen => {
    const found = await listed()
    for (const state of nodeStates) seen.set({ state }, found.filter(one => one.state === state).length)
  })
  gauge('tollgate_nodes_by_role', 'Nodes that run, by TOLLGATE_ROLE.', ['role'], async seen => {
    const running = (await listed()).filter(
      ({ presence }) => presence === 'running' || presence === 'unlisted',
    )
    for (const role of nodeRoles)
      seen.set({ role }, running.filter(({ row }) => (row?.role ?? 'all') === role).length) // an earlier release has one role
  })
  gauge(
    'tollgate_worker_seconds',
    'Seconds for which the present step of a worker has been running, or its next one is late. Without a value it pauses.',
    ['worker'],
    workers => {
      workers.reset()
      for (const [worker, ms] of heartbeats.overdueMs()) workers.set({ worker }, ms / 1000)
    },
  )
}
