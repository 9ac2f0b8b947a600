import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Order } from '../../../src/core/provider/order.ts'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { RefundReply } from '../../../src/core/provider/refundOrder.ts'
import { NotSent, type Reply } from '../../../src/core/provider/reply.ts'
import type { WebhookUpdate } from '../../../src/core/provider/webhook.ts'
import type { PaymentDeps } from '../../../src/runtime/runtime.ts'
import type { Db } from '../../../src/store/db.ts'
import { simulatedNode, simulatedMethod } from '../../support/payments/simulatedNode.ts'
import { seconds } from '../../support/payments/rows.ts'
import type { Behaviour } from './behaviours.ts'
import { unknownCodeReply, type Provider } from './provider.ts'
import { fixedAccounts } from '../../support/payments/fixedAccounts.ts'

export class Crash extends Error {}

export type Stage = {
  behaviours: readonly Behaviour[]
  providersOf(tx_reference: string): readonly Provider[] // one of each
  clock(): number
  random(): number // from 0 to 1
  troubles: boolean
  held: Set<() => void> // slow replies
}

const crashShare = 0.02
const hangShare = 0.03
const slowShare = 0.08
const refusedShare = 0.1
const withdrawingShare = 0.6
const askingShare = 0.7
const unknownCodeShare = 0.1

// A database connection whose process crashes around a commit, or which loses the reply to the commit and repeats the
// transaction. A crashed process does nothing more.
export function crashingDb(db: Db, stage: Stage, run = { isOver: false }): Db {
  const { random, troubles } = stage
  const die = (when: string) => {
    run.isOver = true
    return new Crash(when)
  }
  return {
    ...db,
    rows: query => (run.isOver ? Promise.reject(die('long ago')) : db.rows(query)),
    one: query => (run.isOver ? Promise.reject(die('long ago')) : db.one(query)),
    withQuota: verb => crashingDb(db.withQuota(verb), stage, run),
    withDeadline: deadline => crashingDb(db.withDeadline(deadline), stage, run),
    async transaction(work) {
      const fate = troubles ? random() / crashShare : Number.POSITIVE_INFINITY
      if (run.isOver || fate < 1) throw die('before')
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

const silent = () => Promise.reject(new Error('this account is not used'))

const skewMs = seconds(1) // of the nodes' clocks

type Play = <R extends Reply | RefundReply>(
  order: Pick<Order, 'tx_reference'>,
  call: (provider: Provider) => R,
) => Promise<R>

// A process for one action, with an account at each provider. `gone` is called when the step need not wait for it any
// more: it crashed during a call to the provider, or it waits for a slow reply and continues later.
export function createNode(db: Db, stage: Stage, gone: () => void): PaymentDeps {
  const aheadMs = Math.floor(stage.random() * skewMs)
  const playAt =
    (name: string): Play =>
    async (order, call) => {
      if (stage.random() < 0.5) await nextTurn()
      const fate = stage.troubles ? stage.random() : 1
      const provider = stage.providersOf(order.tx_reference).find(({ behaviour }) => behaviour.name === name)
      if (!provider) throw new Error(`no provider ${name}`)
      if (fate < hangShare) return dead(gone)
      const reply = call(provider)
      if (fate < 2 * hangShare) return dead(gone)
      if (fate < 4 * hangShare) throw new Error('socket hang up')
      if (fate < 4 * hangShare + slowShare) await slow(stage, gone)
      const isUnknown =
        provider.behaviour.sendsUnknownCodes && stage.troubles && stage.random() < unknownCodeShare
      const isThere = reply.state !== 'absent' && !('isRefused' in reply)
      return isUnknown && isThere ? (unknownCodeReply as typeof reply) : reply
    }
  const clock = () => new Date(stage.clock() + aheadMs)
  const accounts = stage.behaviours.map(
    behaviour => [behaviour.name, accountFor(behaviour, stage, playAt(behaviour.name))] as const,
  )
  const deps = simulatedNode(crashingDb(db, stage), clock, { start: silent, check: silent })
  return { ...deps, providerAccounts: fixedAccounts(new Map(accounts), () => () => {}) }
}

// The provider account as the gateway sees it. A refusal may reverse for as long as it can by the clock of any node.
function accountFor(behaviour: Behaviour, stage: Stage, play: Play): ProviderAccount {
  const { name, payment_method, lifetimeMs, failureMayReverseForMs, timing } = behaviour
  const { startIsIdempotent, visibleWithinMs } = behaviour
  const now = () => stage.clock()
  return {
    mode: 'test',
    account: name,
    startIsIdempotent,
    visibleWithinMs,
    timing,
    failureMayReverseForMs: failureMayReverseForMs && failureMayReverseForMs + 2 * skewMs,
    methods: [{ ...simulatedMethod, payment_method, lifetimeMs }],
    ...(behaviour.sendsUnknownCodes && { newIdempotencyKey: (attempt_id: string) => `K-${attempt_id}` }),
    start: order =>
      stage.troubles && stage.random() < refusedShare
        ? Promise.reject(new NotSent('connect ECONNREFUSED'))
        : play(order, ({ take }) =>
            take(order.attempt_id, order.amount, now(), stage.random() ** 4, {
              asks: stage.random() < askingShare,
              name: order.idempotency_key,
            }),
          ),
    check: order => play(order, ({ look }) => look(order.attempt_id, now(), order.check_reversals)),
    submit: (order, _, { otp = '' }) => play(order, ({ type }) => type(order.attempt_id, otp, now())),
    refunds: {
      isIdempotent: startIsIdempotent,
      hasPartial: true,
      visibleWithinMs,
      ...(behaviour.sendsUnknownCodes && { newIdempotencyKey: (reference: string) => `K-${reference}` }),
      refund: order =>
        stage.troubles && stage.random() < refusedShare
          ? Promise.reject(new NotSent('connect ECONNREFUSED'))
          : play(order, ({ refundOurs }) => refundOurs(order, stage.random())),
      checkRefund: order =>
        play(order, ({ checkOurs }) => checkOurs(order, stage.troubles ? stage.random() : 0)),
    },
    handleWebhook: ({ body }) => JSON.parse(body.toString()) as WebhookUpdate[],
    // Some nodes can withdraw; others run a version that cannot.
    ...(behaviour.canWithdraw &&
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
