import { setImmediate as nextTurn } from 'node:timers/promises'
import { reopen } from '../../../src/actions/interface/reopen.ts'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { giveUp } from '../../../src/actions/payments/giveUp.ts'
import { pay } from '../../../src/actions/payments/pay.ts'
import { submit } from '../../../src/actions/payments/submit.ts'
import { promptPoll } from '../../../src/actions/providers/callbacks.ts'
import { handleWebhook } from '../../../src/actions/providers/handleWebhook.ts'
import { pollDue } from '../../../src/actions/providers/pollDue.ts'
import { createRefund } from '../../../src/actions/refunds/createRefund.ts'
import { pollDueRefunds } from '../../../src/actions/refunds/pollRefunds.ts'
import { Unavailable } from '../../../src/core/interface/refusal.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { databaseDeadline } from '../../../src/runtime/deadline.ts'
import { webhookIdOf } from '../../../src/runtime/providers/accounts.ts'
import type { PaymentDeps } from '../../../src/runtime/runtime.ts'
import type { Db } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { changesOn } from '../../support/gateway/runtime.ts'
import { hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { createRandom } from '../../support/random.ts'
import { plain, prompting, stepping } from './behaviours.ts'
import { Crash, crashingDb, createNode, type Stage } from './nodes.ts'
import { createProvider, type Entry, type Provider, rightCode } from './provider.ts'
import { expireDue } from '../../support/payments/expireDue.ts'

const behaviours = [plain, prompting, stepping(minutes(30))]

const waits = [
  0,
  200,
  500,
  seconds(1),
  seconds(2),
  seconds(5),
  seconds(9),
  seconds(25),
  minutes(2),
  minutes(30),
]
const waitsAtRest = [
  minutes(4),
  seconds(30),
  minutes(2),
  minutes(15),
  hours(2),
  hours(2),
  hours(2),
  hours(10),
]
const quietTurns = 20

type Page = Pick<Attempt, 'number' | 'submits'>
const emptyWebhook: Webhook = { path: '', headers: {}, body: Buffer.from('[]'), address: '192.0.2.1' }

// On a slow machine a request may be refused because the payment is locked or the database is late. It is not repeated.
const isTrouble = (error: unknown) => error instanceof Crash || error instanceof Unavailable

// Customers, providers, workers and the clock act on many payments, on several nodes at once.
export function createCrowd(pools: readonly Db[], seed: number) {
  const { random, pick } = createRandom(seed)
  const providers = new Map<string, readonly Provider[]>()
  const pages = new Map<string, Page>() // the attempts that the customer of a payment has seen
  let now = noon.getTime()
  let isOver: Error | undefined
  const today = () => new Date(now)

  function providersOf(tx_reference: string) {
    const own = providers.get(tx_reference) ?? behaviours.map(createProvider)
    providers.set(tx_reference, own)
    return own
  }
  const ordersOf = (tx_reference: string) =>
    new Map(providersOf(tx_reference).flatMap(({ orders }) => [...orders]))
  const stage: Stage = {
    behaviours,
    providersOf,
    clock: () => now,
    random,
    troubles: true,
    held: new Set(),
  }

  const noteFault = (error: unknown) => {
    if (!isTrouble(error)) isOver ??= error as Error
  }

  // Runs a step in its own process. It ends when the work is done, has crashed, or waits for a slow reply.
  function live(work: (deps: PaymentDeps) => Promise<unknown>): Promise<void> {
    return new Promise(gone => {
      const deps = createNode(pick(pools), stage, gone)
      work(deps).catch(noteFault).finally(gone)
    })
  }

  function customerPays(payment: Payment) {
    const seen = pages.get(payment.tx_reference)?.number ?? 0
    const number = seen + (random() < 0.1 ? 2 : random() < 0.2 ? 0 : 1)
    const input = { phone: `024${String(Math.floor(random() * 10 ** 7)).padStart(7, '0')}` }
    const address = payment.tx_reference // a separate address per payment, so that no rate limit applies
    const { payment_method } = random() < 0.4 ? plain : pick(behaviours)
    const request = { number, payment_method, input, cause: 'customer', address } as const
    return live(deps => pay(deps, payment, request))
  }

  // Submits the right code or a wrong one, from the current page or an old one, by one click or two on different nodes.
  function customerTypes(payment: Payment) {
    const { number, submits } = pages.get(payment.tx_reference) ?? { number: 1, submits: 0 }
    const input = { otp: random() < 0.7 ? rightCode : '000000' }
    const request = { number, submits: submits - (random() < 0.1 ? 1 : 0), input }
    const clicks = Array.from({ length: random() < 0.2 ? 2 : 1 }, () =>
      live(deps => submit(deps, payment, request)),
    )
    return Promise.all(clicks)
  }

  // Refunds or disputes a charge, and sends no webhook, one or several.
  async function providerTakesBack({ tx_reference }: Payment) {
    const provider = pick(providersOf(tx_reference))
    const charged = [...provider.orders.values()].filter(({ truth }) => truth === 'charged')
    const entry = pick(charged)
    if (!entry) return
    const isDone =
      random() < 0.5
        ? provider.refund(entry.reference, random() < 0.5)
        : provider.dispute(entry.reference, random() < 0.5)
    if (!isDone) return
    if (entry.disputes.some(({ state }) => state === 'open') && random() < 0.5)
      provider.dispute(entry.reference, random() < 0.5) // resolved before it was reported
    const report = [{ idempotency_key: entry.name, check_reversals: true }]
    const webhook: Webhook = { ...emptyWebhook, body: Buffer.from(JSON.stringify(report)) }
    const account = webhookIdOf(provider.behaviour.name)
    const times = pick([0, 1, 1, 3])
    await Promise.all(
      Array.from({ length: times }, () => live(deps => handleWebhook(deps, account, webhook))),
    )
  }

  // The shop refunds a part or the rest, sometimes repeating an earlier request, by one click or two on different nodes.
  function shopRefunds({ merchant_id, tx_reference, mode }: Payment) {
    const amount = pick([100n, 500n, 900n, 'left'] as const)
    const request = {
      merchant_id,
      mode,
      payment: { tx_reference },
      refund_id: `${tx_reference}-${Math.floor(random() * 6)}`,
      amount,
      source: 'payment',
      reason: '',
      by: { requested_by: 'merchant' },
    } as const
    const clicks = random() < 0.3 ? 2 : 1
    return Promise.all(Array.from({ length: clicks }, () => live(deps => createRefund(deps, request))))
  }

  // An operator refunds a charge that came in addition, or the rest of the payment.
  const operatorRefunds = ({ merchant_id, tx_reference, mode }: Payment) =>
    live(async deps => {
      const paid = (await attemptsOf(deps.db, merchant_id, tx_reference)).filter(
        ({ state }) => state === 'paid',
      )
      const attempt = pick(paid)
      if (!attempt) return
      await createRefund(deps, {
        merchant_id,
        mode,
        payment: { tx_reference },
        attempt_number: attempt.number,
        refund_id: null,
        amount: 'left',
        source: paid.length > 1 ? 'surplus' : 'payment',
        reason: '',
        by: { requested_by: 'operator', operator: 'Esi' },
      })
    })

  function customerGivesUp(payment: Payment) {
    const number = pages.get(payment.tx_reference)?.number ?? 1
    return live(deps => giveUp(deps, payment, { number, gave_up_for: pick(['number', 'method'] as const) }))
  }

  // The shop repeats the request of a payment that it believes to be cancelled.
  const shopAsksAgain = (payment: Payment) =>
    live(deps => reopen(deps, { ...payment, status: 'cancelled' }, databaseDeadline()))

  // Charges or refuses an order, and sends no callback, one or several.
  async function providerDecides({ tx_reference }: Payment) {
    const all = [...ordersOf(tx_reference).values()]
    const refused = all.filter(({ truth }) => truth === 'refused')
    const entry = pick(random() < 0.4 && refused.length > 0 ? refused : all)
    const provider = providersOf(tx_reference).find(({ orders }) => entry && orders.has(entry.reference))
    if (!entry || !provider) return
    const { reference } = entry
    const isCharged = random() < 0.6 && provider.charge(reference, now, random() < 0.1)
    if (!isCharged && !provider.refuse(reference, now)) return
    const times = entry.callsBack ? 1 : pick([0, 0, 1, 1, 3])
    await Promise.all(Array.from({ length: times }, () => callBack(reference, !entry.callsBack)))
    entry.callsBack = false
  }

  const steady = changesOn(pools[0] as Db)
  const answering = { clock: today, wake() {} }

  // A callback that must not get lost is repeated until it is accepted.
  const callBack = (reference: string, mayCrash = true) =>
    mayCrash
      ? promptPoll({ ...changesOn(crashingDb(pick(pools), stage)), ...answering }, reference).catch(noteFault)
      : retryUnavailable(() => promptPoll({ ...steady, ...answering }, reference))

  function step(hot: readonly Payment[]): Promise<unknown> {
    const payment = pick(hot)
    const at = random()
    if (at < 0.26) return customerPays(payment)
    if (at < 0.3) return live(deps => cancel(deps, payment, deps.clock()))
    if (at < 0.44) return live(deps => pollDue(deps, noteFault))
    if (at < 0.48) return live(({ db, clock }) => expireDue(db, clock()))
    if (at < 0.52) return shopAsksAgain(payment)
    if (at < 0.57) return customerGivesUp(payment)
    if (at < 0.63) return callBack(pick([...ordersOf(payment.tx_reference).keys(), 'nobody']))
    if (at < 0.72) return customerTypes(payment)
    if (at < 0.75) return providerTakesBack(payment)
    if (at < 0.81) return shopRefunds(payment)
    if (at < 0.82) return operatorRefunds(payment)
    if (at < 0.86) return live(deps => pollDueRefunds(deps, noteFault))
    return providerDecides(payment)
  }

  // Runs many steps at once, then moves the clock. Slow replies come later, but never minutes later.
  async function round(hot: readonly Payment[], count: number) {
    await Promise.all(Array.from({ length: count }, () => step(hot)))
    const ms = pick(waits)
    if (ms > minutes(1)) await quiet()
    else for (const release of stage.held) if (random() < 0.4) release()
    now += ms
    if (isOver) throw isOver
  }

  // Waits until all slow work is done. Crashed steps never end, so this looks at the connections.
  async function quiet() {
    for (let turns = 0; turns < quietTurns; turns++) {
      for (const release of stage.held) release()
      await nextTurn()
      if (pools.some(pool => pool.stats().idle < pool.stats().total || pool.stats().waiting > 0)) turns = 0
    }
  }

  // Stops all faults: the providers decide, and everything that is due is polled and expired.
  async function rest() {
    await quiet()
    stage.troubles = false
    const all = [...providers.values()].flat()
    for (const { orders, refuse } of all) for (const reference of orders.keys()) refuse(reference, now)
    const later = [...waitsAtRest]
    for (const ms of later) {
      now += ms
      for (const provider of all) turnSome(provider)
      const deps = createNode(pools[0] as Db, stage, () => {})
      const isUnknown = (error: unknown) => {
        if (error instanceof Unavailable)
          later.push(hours(10)) // it is polled again
        else isOver ??= error as Error
      }
      while ((await retryUnavailable(() => pollDue(deps, isUnknown))) > 0);
      while ((await retryUnavailable(() => pollDueRefunds(deps, isUnknown))) > 0);
      while ((await retryUnavailable(() => expireDue(deps.db, deps.clock()))) > 0);
    }
    stage.troubles = true
    if (isOver) throw isOver
  }

  // Turns some refusals into charges, while the provider may.
  function turnSome({ behaviour, orders, charge }: Provider) {
    if (behaviour.isClosing) for (const reference of orders.keys()) if (random() < 0.3) charge(reference, now)
  }

  // The orders of a payment at all providers, and whether one may still be charged.
  const ordersAt = (tx_reference: string) => ({
    orders: ordersOf(tx_reference),
    comes: (entry: Entry) =>
      providersOf(tx_reference).some(
        ({ behaviour, orders, canCome }) =>
          behaviour.isClosing && orders.get(entry.reference) === entry && canCome(entry, now),
      ),
  })

  return { round, rest, quiet, pick, random, pages, ordersAt, clock: today }
}

// Repeats the work until the database answers; on a busy machine that may take long.
export async function retryUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Unavailable) return retryUnavailable(work)
    throw error
  }
}
