import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { openDb } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import {
  openSimulatedProviders,
  type SimulatedProvider,
  type SimulatedProviders,
} from '../support/providers/simulatedProviders.ts'
import type { TestedDatabase } from './database.ts'
import { startNode, type TestedNode } from './nodes.ts'

// A whole installation: nodes, their database, two providers, and a shop for each with its receiver of notifications.
export type Installation = {
  database: TestedDatabase
  nodes: readonly TestedNode[]
  world: SimulatedProviders
  shops: readonly TortureShop[]
  notes: string[] // what must not happen, such as a node that ends by itself
  folder: string // that the nodes may read
  stop(): Promise<void>
}
export type TortureShop = { provider: SimulatedProvider; receiver: Receiver }

// The amounts that a provider declines; every other charge is paid.
export const declinedAmounts = ['13.13', '31.31']

const shareOfCallbackMs = 200 // how soon callbacks go to another node

export async function openInstallation(
  database: TestedDatabase,
  { nodeCount = 3, hasLinks = false } = {},
): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-torture-'))
  chmodSync(folder, 0o755) // a gateway that root starts runs as another user
  const closers: (() => unknown)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
    () => database.stop(),
  ]
  const stop = async () => {
    for (const close of closers.toReversed()) await close()
  }
  try {
    const db = openDb(database.url, 1)
    await migrate(db)
    await db.end()
    const world = await openWorld(database)
    closers.push(() => world.close())
    decideByThemselves(world)
    const shops: TortureShop[] = []
    for (const provider of world.providers) {
      const receiver = await openReceiver()
      closers.push(() => receiver.close())
      await setMerchant(world.db, provider.merchant_id, [`ipn_url=${receiver.url}/ipn`, 'ipn_refunds=on'])
      shops.push({ provider, receiver })
    }
    const notes: string[] = []
    const env = { ...world.env, TOLLGATE_EGRESS_LOOPBACK: 'on', TOLLGATE_POOL_SIZE: '6' }
    const nodes: TestedNode[] = []
    closers.push(() => Promise.all(nodes.map(node => node.stop())))
    const { hosts } = database
    const note = (text: string) => void notes.push(text)
    for (let n = 1; n <= nodeCount; n++)
      nodes.push(await startNode({ name: `node ${n}`, hosts, env, folder, hasLink: hasLinks, note }))
    const timer = setInterval(() => {
      const up = nodes.filter(node => node.isUp())
      const next = up[Math.floor(Math.random() * up.length)]
      if (next) world.callbackProxy.target = next.url
    }, shareOfCallbackMs)
    closers.push(() => clearInterval(timer))
    return { database, nodes, world, shops, notes, folder, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

// Where there are several workers, the merchants live on different ones. The id of a merchant decides that, so more are made
// until it is so.
async function openWorld({ url, citus }: TestedDatabase): Promise<SimulatedProviders> {
  for (;;) {
    const world = await openSimulatedProviders({ url, drop: async () => {} })
    if (!citus) return world
    const places = await Promise.all(world.providers.map(({ merchant_id }) => citus.workerOf(merchant_id)))
    if (new Set(places).size === places.length) return world
    await world.close()
  }
}

// Nobody approves prompts: a charge ends at its first poll or a moment after its start, with a callback.
function decideByThemselves({ simulators: { mtn, paystack } }: SimulatedProviders) {
  mtn.rule({ story: { ends: { status: 'SUCCESSFUL' }, afterReads: 1 } })
  paystack.rule({ story: { ends: 'success', afterMs: 400 } })
  for (const amount of declinedAmounts) {
    mtn.rule({ amount, story: { ends: { status: 'FAILED', reason: 'APPROVAL_REJECTED' } } })
    const pesewas = String(Math.round(Number(amount) * 100))
    paystack.rule({ amount: pesewas, story: { ends: 'failed', afterMs: 400 } })
  }
}
