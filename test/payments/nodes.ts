import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PaymentDeps } from '../../src/actions/payments/deps.ts'
import { NotSent, type Order, type Reply } from '../../src/core/channel/channel.ts'
import type { Db } from '../../src/store/db.ts'
import { simulatedNode } from '../support/lifeNode.ts'
import type { Provider } from './provider.ts'

export class Crash extends Error {}

export type Stage = {
  providerOf(tx_reference: string): Provider
  clock(): number
  dice(): number // from 0 to 1
  troubles: boolean
  held: Set<() => void> // answers that are slow
}

const crashShare = 0.02
const hangShare = 0.03
const slowShare = 0.08
const deadLineShare = 0.1
const withdrawingShare = 0.6

// A connection whose process dies around a commit, or which loses the commit's answer and does it all again. What has
// died does nothing more.
export function crashingDb(db: Db, stage: Stage, life = { isOver: false }): Db {
  const { dice, troubles } = stage
  const die = (when: string) => {
    life.isOver = true
    return new Crash(when)
  }
  return {
    ...db,
    rows: query => (life.isOver ? Promise.reject(die('long ago')) : db.rows(query)),
    one: query => (life.isOver ? Promise.reject(die('long ago')) : db.one(query)),
    share: verb => crashingDb(db.share(verb), stage, life),
    until: deadline => crashingDb(db.until(deadline), stage, life),
    async transaction(work) {
      const fate = troubles ? dice() / crashShare : Number.POSITIVE_INFINITY
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

// One process for one piece of work. `gone` is called when nobody waits for it any more: it has died at a call to the
// provider, or waits for a slow answer and goes on later.
export function createNode(db: Db, stage: Stage, gone: () => void): PaymentDeps {
  const skewMs = Math.floor(stage.dice() * 1000)
  const play = async (order: Order, call: (provider: Provider) => Reply): Promise<Reply> => {
    if (stage.dice() < 0.5) await nextTurn()
    const fate = stage.troubles ? stage.dice() : 1
    const provider = stage.providerOf(order.tx_reference)
    if (fate < hangShare) return dead(gone)
    const reply = call(provider)
    if (fate < 2 * hangShare) return dead(gone)
    if (fate < 4 * hangShare) throw new Error('socket hang up')
    if (fate < 4 * hangShare + slowShare) await slow(stage, gone)
    return reply
  }
  const clock = () => new Date(stage.clock() + skewMs)
  // Some nodes know how to withdraw, and some are of a version before.
  const giveUp = (order: Order) => play(order, ({ withdraw }) => withdraw(order.attempt_id, stage.clock()))
  return simulatedNode(crashingDb(db, stage), clock, {
    start: order =>
      stage.troubles && stage.dice() < deadLineShare
        ? Promise.reject(new NotSent('connect ECONNREFUSED'))
        : play(order, ({ take }) => take(order.attempt_id, order.amount, stage.clock(), stage.dice() ** 4)),
    check: order => play(order, ({ look }) => look(order.attempt_id, stage.clock())),
    ...(stage.dice() < withdrawingShare && { giveUp }),
  })
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
