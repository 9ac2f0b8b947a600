import type { Heartbeats } from '../runtime/heartbeats.ts'
import { randomInt } from 'node:crypto'
import {
  aliveForMs,
  forgetNode,
  noPresence,
  type Presence,
  presenceCheckMs,
  updatePresence,
} from '../core/nodes.ts'
import { newLeaseToken } from '../runtime/ids.ts'
import { coalesce, isWakeable, type Wakeable } from '../runtime/wakeUps.ts'
import type { Db } from '../store/db.ts'
import { CannotListen, type NodeSession, openListeningSession } from '../store/nodeSession.ts'
import {
  endLeasesOf,
  nodeLeaseToken,
  nodeOfToken,
  nodesWithLeases,
} from '../store/notifications/deliveries.ts'
import { startLoop } from './loop.ts'

// This process as one of several nodes on a database. It has one connection for itself, over which it sends and receives
// wake-ups and holds the lock that shows that it is alive (see core/nodes.ts). Every 800 ms it checks which nodes hold
// their lock, and ends the leases of nodes that are dead. All of this only saves time: without the connection, polling
// finds the work, and leases end by their time.
//
//   disconnected --connect--> connected --any failure--> disconnected (retry after 200 ms to 1 s)
//   disconnected --notifications do not arrive--> cannotListen (retry after 10 minutes)
//
// The number of the node is in the tokens of its leases. It stays the same over a new connection, unless other nodes may
// have declared this one dead meanwhile: then they have ended its leases, and it takes another number.

const firstRetryMs = 100
const maxRetryMs = 1000
const cannotListenRetryMs = 600_000
const maxNumber = 2 ** 31

// For the operator.
export type NodeWatch = {
  cannotListen(): void
  died(node: number, leases: number): void // another node, which had so many leases
}

type NodeOptions = {
  db: Db
  clock(): Date
  onWakeUp(who: Wakeable): void
  watch: NodeWatch
  heartbeats?: Heartbeats
}

export type Leases = {
  token(): string // for a new lease: it ends with this process if other nodes can see that this one is alive
  isOurs(token: string): boolean // whether no other node can have ended the lease
  confirm(token: string): Promise<boolean> // the same, after another check if the last one is too old
}
export type Node = Leases & {
  sendWakeUp(who: Wakeable): void
  count(): number // of living nodes at the last check, including this one; 1 before the first check
  receivesWakeUps(): boolean // wake-ups of other nodes arrive, as of the last check
  presence(): { number: number; is_listening: boolean } // for the list of nodes
  onConnected(listener: () => void): void // called when `presence` has changed by a new connection
  stop(): Promise<void>
}

type Connection =
  | { state: 'disconnected'; retryMs: number }
  | { state: 'connected'; session: NodeSession; retryMs: number } // after the next failure
  | { state: 'cannotListen' }

type NodeState = NodeOptions & {
  connection: Connection
  number: number
  aliveUntil: number // no other node has declared this one dead by then
  presence: Presence
  present: readonly number[]
  leaseHolders: readonly number[] // when it connected
  listeners: (() => void)[] // of new connections
  confirmations: ((isAlive: boolean) => void)[] // callers that wait for the next check
}

export function startNode(options: NodeOptions): Node {
  const node: NodeState = {
    ...options,
    connection: { state: 'disconnected', retryMs: firstRetryMs },
    number: randomInt(1, maxNumber),
    aliveUntil: -Infinity,
    presence: noPresence,
    present: [],
    leaseHolders: [],
    listeners: [],
    confirmations: [],
  }
  let isStopped = false
  const loop = startLoop({
    restMs: () => restMs(node.connection),
    step: () => checkOnce(node),
    onTrouble: error => disconnect(node, error),
    heartbeat: options.heartbeats?.of('node'),
  })
  return {
    token: () => (isAlive(node) ? nodeLeaseToken(node.number, newLeaseToken()) : newLeaseToken()),
    isOurs: token => isOurs(node, token),
    confirm(token) {
      const isOwn = nodeOfToken(token) === node.number
      if (isOurs(node, token) || isStopped || !isOwn) return Promise.resolve(isOurs(node, token))
      loop.wake()
      return new Promise(resolve => void node.confirmations.push(resolve))
    },
    sendWakeUp: coalesce<Wakeable>(all => sessionOf(node)?.notify(all.join(' '))),
    count: () => Math.max(1, node.present.length),
    receivesWakeUps: () => node.connection.state === 'connected' && isAlive(node),
    presence: () => ({ number: node.number, is_listening: node.connection.state === 'connected' }),
    onConnected: listener => void node.listeners.push(listener),
    async stop() {
      isStopped = true
      await loop.stop()
      confirmAll(node, false)
      await sessionOf(node)
        ?.close()
        .catch(() => {})
    },
  }
}

const sessionOf = ({ connection }: NodeState) =>
  connection.state === 'connected' ? connection.session : undefined

function restMs(connection: Connection): number {
  if (connection.state === 'connected') return presenceCheckMs
  return connection.state === 'cannotListen' ? cannotListenRetryMs : connection.retryMs
}

const isAlive = ({ aliveUntil }: NodeState) => performance.now() < aliveUntil

function isOurs(node: NodeState, token: string): boolean {
  const number = nodeOfToken(token)
  return number === undefined || (number === node.number && isAlive(node))
}

// One step of the loop: reads who holds a lock, and ends the leases of dead nodes. A failure leads to `disconnect`.
async function checkOnce(node: NodeState): Promise<number> {
  const before = sessionOf(node)
  const session = before?.isOpen() ? before : await connect(node)
  const isNewConnection = session !== before
  const checkedAt = performance.now()
  node.present = await session.presentNodes()
  if (!node.present.includes(node.number)) throw new Error('this node does not hold its lock')
  node.aliveUntil = checkedAt + aliveForMs
  node.connection = { state: 'connected', session, retryMs: firstRetryMs }
  confirmAll(node, true)
  const { present, leaseHolders } = node
  const { presence, dead } = updatePresence(
    node.presence,
    { present, leaseHolders, isNewConnection },
    checkedAt,
  )
  node.presence = presence
  node.leaseHolders = []
  for (const number of dead) await endLeases(node, number)
  if (isNewConnection) for (const onConnected of node.listeners) onConnected()
  return 0
}

async function connect(node: NodeState): Promise<NodeSession> {
  confirmAll(node, false)
  if (!isAlive(node)) node.number = randomInt(1, maxNumber)
  const onWakeUp = coalesce<Wakeable>(all => all.forEach(node.onWakeUp))
  const session = await openListeningSession(node.db, node.number, payload =>
    payload.split(' ').filter(isWakeable).forEach(onWakeUp),
  )
  const { connection } = node
  const retryMs = connection.state === 'cannotListen' ? firstRetryMs : connection.retryMs
  node.connection = { state: 'connected', session, retryMs }
  node.leaseHolders = await nodesWithLeases(node.db, node.clock()) // some may have died while no node was running
  return session
}

function disconnect(node: NodeState, error: unknown) {
  confirmAll(node, false)
  const before = node.connection
  void sessionOf(node)
    ?.close()
    .catch(() => {})
  if (before.state === 'cannotListen') return
  if (error instanceof CannotListen) {
    node.connection = { state: 'cannotListen' }
    node.watch.cannotListen()
  } else node.connection = { state: 'disconnected', retryMs: Math.min(before.retryMs * 2, maxRetryMs) }
}

// While the connection is the same, the lock was always held: a late check proves it for the time before.
const confirmAll = (node: NodeState, isStillAlive: boolean) =>
  node.confirmations.splice(0).forEach(confirm => confirm(isStillAlive))

async function endLeases(node: NodeState, dead: number) {
  const ended = await endLeasesOf(node.db, dead, node.clock())
  node.presence = forgetNode(node.presence, dead)
  if (ended === 0) return
  node.watch.died(dead, ended)
  node.onWakeUp('senders')
}
