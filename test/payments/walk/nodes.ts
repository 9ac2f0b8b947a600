import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PaymentDeps } from '../../../src/actions/payments/deps.ts'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import { NotSent, type Reply } from '../../../src/core/provider/reply.ts'
import type { WebhookUpdate } from '../../../src/core/provider/webhook.ts'
import { providerAccountsOf } from '../../../src/runtime/providerAccounts.ts'
import type { Db } from '../../../src/store/db.ts'
import { simulatedNode, simulatedWay } from '../../support/payments/simulatedNode.ts'
import { seconds } from '../../support/payments/rows.ts'
import type { Manner } from './manners.ts'
import { oddly, type Provider } from './provider.ts'

export class Crash extends Error {}

export type Stage = {
  manners: readonly Manner[]
  providersOf(tx_reference: string): readonly Provider[] // one of each
  clock(): number
  random(): number // from 0 to 1
  troubles: boolean
  held: Set<() => void> // answers that are slow
}

const crashShare = 0.02
const hangShare = 0.03
const slowShare = 0.08
const deadLineShare = 0.1
const withdrawingShare = 0.6
const askingShare = 0.7
const oddShare = 0.1

// A connection whose process dies around a commit, or which loses the commit's answer and does it all again. What has
// died does nothing more.
export function crashingDb(db: Db, stage: Stage, life = { isOver: false }): Db {
  const { random, troubles } = stage
  const die = (when: string) => {
    life.isOver = true
    return new Crash(when)
  }
  return {
    ...db,
    rows: query => (life.isOver ? Promise.reject(die('long ago')) : db.rows(query)),
    one: query => (life.isOver ? Promise.reject(die('long ago')) : db.one(query)),
    withQuota: verb => crashingDb(db.withQuota(verb), stage, life),
    until: deadline => crashingDb(db.until(deadline), stage, life),
    async transaction(work) {
      const fate = troubles ? random() / crashShare : Number.POSITIVE_INFINITY
      if (life.isOver || fate < 1) throw die('before')
      const done = await db.transaction(async tx => {
        const result = await work(tx)
        if (fate < 2) throw die('before the commit')
        return result
      })
      if (fate < 3) throw die('after')
      return fate < 4 ? db.transaction(work) : done
    },
  }
}

const silent = () => Promise.reject(new Error('nobody is asked here'))

const skewMs = seconds(1) // of the nodes' clocks

type Play = (order: Order, call: (provider: Provider) => Reply) => Promise<Reply>

// One process for one piece of work, which has a line to each provider. `gone` is called when nobody waits for it any more:
// it has died at a call to the provider, or waits for a slow answer and goes on later.
export function createNode(db: Db, stage: Stage, gone: () => void): PaymentDeps {
  const aheadMs = Math.floor(stage.random() * skewMs)
  const playAt =
    (name: string): Play =>
    async (order, call) => {
      if (stage.random() < 0.5) await nextTurn()
      const fate = stage.troubles ? stage.random() : 1
      const provider = stage.providersOf(order.tx_reference).find(({ manner }) => manner.name === name)
      if (!provider) throw new Error(`nobody plays ${name}`)
      if (fate < hangShare) return dead(gone)
      const reply = call(provider)
      if (fate < 2 * hangShare) return dead(gone)
      if (fate < 4 * hangShare) throw new Error('socket hang up')
      if (fate < 4 * hangShare + slowShare) await slow(stage, gone)
      const isOdd = provider.manner.hasOddWords && stage.troubles && stage.random() < oddShare
      return isOdd && reply.state !== 'absent' ? oddly : reply
    }
  const clock = () => new Date(stage.clock() + aheadMs)
  const lines = stage.manners.map(
    manner => [manner.name, lineTo(manner, stage, playAt(manner.name))] as const,
  )
  const deps = simulatedNode(crashingDb(db, stage), clock, { start: silent, check: silent })
  return { ...deps, providerAccounts: providerAccountsOf(new Map(lines), () => () => {}) }
}

// What a provider of this manner is to the house. A no is said to turn for as long as it does by the clock of any node.
function lineTo(manner: Manner, stage: Stage, play: Play): ProviderAccount {
  const { name, payment_method, lifetimeMs, failureMayReverseForMs, timing: pace } = manner
  const { startIsIdempotent, visibleWithinMs } = manner
  const now = () => stage.clock()
  return {
    mode: 'test',
    account: name,
    startIsIdempotent,
    visibleWithinMs,
    timing: pace,
    failureMayReverseForMs: failureMayReverseForMs && failureMayReverseForMs + 2 * skewMs,
    methods: [{ ...simulatedWay, payment_method, lifetimeMs }],
    ...(manner.hasOddWords && { newIdempotencyKey: (attempt_id: string) => `K-${attempt_id}` }),
    start: order =>
      stage.troubles && stage.random() < deadLineShare
        ? Promise.reject(new NotSent('connect ECONNREFUSED'))
        : play(order, ({ take }) =>
            take(order.attempt_id, order.amount, now(), stage.random() ** 4, {
              asks: stage.random() < askingShare,
              name: order.idempotency_key,
            }),
          ),
    check: order => play(order, ({ look }) => look(order.attempt_id, now(), order.check_reversals)),
    submit: (order, _, { otp = '' }) => play(order, ({ type }) => type(order.attempt_id, otp, now())),
    handleWebhook: ({ body }) => JSON.parse(body.toString()) as WebhookUpdate[],
    // Some nodes know how to withdraw, and some are of a version before.
    ...(manner.canWithdraw &&
      stage.random() < withdrawingShare && {
        giveUp: (order: Order) => play(order, ({ withdraw }) => withdraw(order.attempt_id, now())),
      }),
  }
}

function dead(gone: () => void) {
  gone()
  return new Promise<never>(() => {})
}

function slow({ held }: Stage, gone: () => void) {
  gone()
  return new Promise<void>(done => {
    const release = () => (held.delete(release), done())
    held.add(release)
  })
}
