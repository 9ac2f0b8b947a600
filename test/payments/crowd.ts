import { setImmediate as nextTurn } from 'node:timers/promises'
import { reopen } from '../../src/actions/interface/reopen.ts'
import { askDue, prompted } from '../../src/actions/payments/askDue.ts'
import { cancel } from '../../src/actions/payments/cancel.ts'
import type { PaymentDeps } from '../../src/actions/payments/deps.ts'
import { expireDue } from '../../src/actions/payments/expire.ts'
import { giveUp } from '../../src/actions/payments/giveUp.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import { Locked } from '../../src/core/interface/refusal.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { databaseDeadline } from '../../src/runtime/inTime.ts'
import type { Db } from '../../src/store/db.ts'
import { hours, minutes, noon, seconds } from '../support/lifeRows.ts'
import { createDice } from './dice.ts'
import { Crash, crashingDb, createNode, type Stage } from './nodes.ts'
import { createProvider, type Provider } from './provider.ts'

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

// Who is told on a slow machine that somebody else holds the payment need not ask again.
function onlyCrashes(error: unknown) {
  if (!(error instanceof Crash || error instanceof Locked)) throw error
}

// Customers, providers, workers and the clock around many payments, on several nodes at once.
export function createCrowd(pools: readonly Db[], seed: number) {
  const { dice, pick } = createDice(seed)
  const providers = new Map<string, Provider>()
  const forms = new Map<string, number>() // how many attempts of a payment its customer has seen
  let now = noon.getTime()
  let isOver: Error | undefined

  function providerOf(tx_reference: string) {
    const provider = providers.get(tx_reference) ?? createProvider()
    providers.set(tx_reference, provider)
    return provider
  }
  const stage: Stage = { providerOf, clock: () => now, dice, troubles: true, held: new Set() }

  // A step in a process of its own: done when it is done, when it has died, or when it waits for a slow answer.
  function live(work: (deps: PaymentDeps) => Promise<unknown>): Promise<void> {
    return new Promise(gone => {
      const deps = createNode(pick(pools), stage, gone)
      work(deps)
        .catch(onlyCrashes)
        .catch((error: Error) => (isOver ??= error))
        .finally(gone)
    })
  }

  function customerPays(payment: Payment) {
    const number = (forms.get(payment.tx_reference) ?? 0) + (dice() < 0.1 ? 2 : dice() < 0.2 ? 0 : 1)
    const typed = { phone: `024${String(Math.floor(dice() * 10 ** 7)).padStart(7, '0')}` }
    const address = payment.tx_reference // one of its own: the limits have a test of their own
    const wish = { number, payment_method: 'mtn_mobile_money', typed, cause: 'customer', address } as const
    return live(deps => pay(deps, payment, wish))
  }

  function customerGivesUp(payment: Payment) {
    const number = forms.get(payment.tx_reference) ?? 1
    return live(deps => giveUp(deps, payment, { number, gave_up_for: pick(['number', 'way'] as const) }))
  }

  // Somebody told the shop that it was cancelled, which may be true by now or not.
  const shopAsksAgain = (payment: Payment) =>
    live(deps => reopen(deps, { ...payment, status: 'cancelled' }, databaseDeadline()))

  // And tells us once, several times or not at all.
  async function providerDecides({ tx_reference }: Payment) {
    const provider = providerOf(tx_reference)
    const entry = pick([...provider.books.values()])
    if (!entry) return
    const { reference } = entry
    const isCharged = dice() < 0.6 && provider.charge(reference, now, dice() < 0.1)
    if (!isCharged && !provider.refuse(reference)) return
    const times = entry.knocks ? 1 : pick([0, 0, 1, 1, 3])
    await Promise.all(Array.from({ length: times }, () => knock(reference, !entry.knocks)))
    entry.knocks = false
  }

  const knock = (reference: string, mayCrash = true) =>
    prompted(
      { db: mayCrash ? crashingDb(pick(pools), stage) : (pools[0] as Db), clock: () => new Date(now) },
      reference,
    )

  function step(hot: readonly Payment[]): Promise<unknown> {
    const payment = pick(hot)
    const at = dice()
    if (at < 0.3) return customerPays(payment)
    if (at < 0.34) return live(({ db, clock }) => cancel(db, payment, clock()))
    if (at < 0.48) return live(deps => askDue(deps, error => onlyCrashes(error)))
    if (at < 0.52) return live(({ db, clock }) => expireDue(db, clock()))
    if (at < 0.56) return shopAsksAgain(payment)
    if (at < 0.62) return customerGivesUp(payment)
    if (at < 0.7) return knock(pick([...providerOf(payment.tx_reference).books.keys(), 'nobody']))
    return providerDecides(payment)
  }

  // Many steps at once, then the clock goes on. Slow answers come later, but nobody waits for them for minutes.
  async function round(hot: readonly Payment[], count: number) {
    await Promise.all(Array.from({ length: count }, () => step(hot)))
    const ms = pick(waits)
    if (ms > minutes(1)) await quiet()
    else for (const release of stage.held) if (dice() < 0.4) release()
    now += ms
    if (isOver) throw isOver
  }

  // Until all that was slow is done. Those that have died never come, so it is the connections that tell.
  async function quiet() {
    for (let turns = 0; turns < quietTurns; turns++) {
      for (const release of stage.held) release()
      await nextTurn()
      if (pools.some(pool => pool.stats().idle < pool.stats().total || pool.stats().waiting > 0)) turns = 0
    }
  }

  // No more troubles: the provider makes up its mind, and all that is due is asked and ended.
  async function rest() {
    await quiet()
    stage.troubles = false
    for (const { books, refuse } of providers.values())
      for (const reference of books.keys()) refuse(reference)
    for (const ms of waitsAtRest) {
      now += ms
      const { db, ...deps } = createNode(pools[0] as Db, stage, () => {})
      while ((await askDue({ ...deps, db }, error => (isOver ??= error as Error))) > 0);
      while ((await expireDue(db, deps.clock())) > 0);
    }
    stage.troubles = true
    if (isOver) throw isOver
  }

  return { round, rest, quiet, pick, dice, forms, providerOf, clock: () => new Date(now) }
}
