import { setImmediate as nextTurn } from 'node:timers/promises'
import { pollDue } from '../../../src/actions/providers/pollDue.ts'
import { handleWebhook } from '../../../src/actions/providers/handleWebhook.ts'
import { promptPoll } from '../../../src/actions/providers/callbacks.ts'
import { reopen } from '../../../src/actions/interface/reopen.ts'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import type { PaymentDeps } from '../../../src/actions/payments/deps.ts'
import { expireDue } from '../../../src/actions/payments/expire.ts'
import { giveUp } from '../../../src/actions/payments/giveUp.ts'
import { pay } from '../../../src/actions/payments/pay.ts'
import { submit } from '../../../src/actions/payments/submit.ts'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { Unavailable } from '../../../src/core/interface/refusal.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { webhookIdOf } from '../../../src/runtime/providers/webhookId.ts'
import { databaseDeadline } from '../../../src/runtime/inTime.ts'
import type { Db } from '../../../src/store/db.ts'
import { hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { createRandom } from '../../support/random.ts'
import { insist } from './insist.ts'
import { plain, prompting, stepping } from './manners.ts'
import { Crash, crashingDb, createNode, type Stage } from './nodes.ts'
import { createProvider, type Entry, type Provider, rightCode } from './provider.ts'

const manners = [plain, prompting, stepping(minutes(30))]

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

// Who is told on a slow machine that somebody else holds the payment, or that the records do not answer, need not ask again.
const isTrouble = (error: unknown) => error instanceof Crash || error instanceof Unavailable

// Customers, providers, workers and the clock around many payments, on several nodes at once.
export function createCrowd(pools: readonly Db[], seed: number) {
  const { random, pick } = createRandom(seed)
  const providers = new Map<string, readonly Provider[]>()
  const pages = new Map<string, Page>() // what the customer of a payment has seen of its attempts
  let now = noon.getTime()
  let isOver: Error | undefined
  const today = () => new Date(now)

  function providersOf(tx_reference: string) {
    const own = providers.get(tx_reference) ?? manners.map(createProvider)
    providers.set(tx_reference, own)
    return own
  }
  const booksOf = (tx_reference: string) =>
    new Map(providersOf(tx_reference).flatMap(({ books }) => [...books]))
  const stage: Stage = {
    manners,
    providersOf,
    clock: () => now,
    random,
    troubles: true,
    held: new Set(),
  }

  const noteFault = (error: unknown) => {
    if (!isTrouble(error)) isOver ??= error as Error
  }

  // A step in a process of its own: done when it is done, when it has died, or when it waits for a slow answer.
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
    const address = payment.tx_reference // one of its own: the limits have a test of their own
    const { payment_method } = random() < 0.4 ? plain : pick(manners)
    const wish = { number, payment_method, input, cause: 'customer', address } as const
    return live(deps => pay(deps, payment, wish))
  }

  // The right code or a wrong one, into the page of now or of before, by one click or two on different nodes.
  function customerTypes(payment: Payment) {
    const { number, submits } = pages.get(payment.tx_reference) ?? { number: 1, submits: 0 }
    const input = { otp: random() < 0.7 ? rightCode : '000000' }
    const wish = { number, submits: submits - (random() < 0.1 ? 1 : 0), input }
    const clicks = Array.from({ length: random() < 0.2 ? 2 : 1 }, () =>
      live(deps => submit(deps, payment, wish)),
    )
    return Promise.all(clicks)
  }

  // The money goes back, and that is told once, several times or not at all.
  async function providerTakesBack({ tx_reference }: Payment) {
    const provider = pick(providersOf(tx_reference))
    const charged = [...provider.books.values()].filter(({ truth }) => truth === 'charged')
    const entry = pick(charged)
    if (!entry) return
    const isDone =
      random() < 0.5
        ? provider.refund(entry.reference, random() < 0.5)
        : provider.dispute(entry.reference, random() < 0.5)
    if (!isDone) return
    if (entry.disputes.some(({ state }) => state === 'open') && random() < 0.5)
      provider.dispute(entry.reference, random() < 0.5) // resolved before anybody heard of it
    const news = [{ key: entry.name, check_reversals: true }]
    const webhook: Webhook = { ...emptyWebhook, body: Buffer.from(JSON.stringify(news)) }
    const account = webhookIdOf(provider.manner.name)
    const times = pick([0, 1, 1, 3])
    await Promise.all(
      Array.from({ length: times }, () => live(deps => handleWebhook(deps, account, webhook))),
    )
  }

  function customerGivesUp(payment: Payment) {
    const number = pages.get(payment.tx_reference)?.number ?? 1
    return live(deps => giveUp(deps, payment, { number, gave_up_for: pick(['number', 'method'] as const) }))
  }

  // Somebody told the shop that it was cancelled, which may be true by now or not.
  const shopAsksAgain = (payment: Payment) =>
    live(deps => reopen(deps, { ...payment, status: 'cancelled' }, databaseDeadline()))

  // And tells us once, several times or not at all.
  async function providerDecides({ tx_reference }: Payment) {
    const all = [...booksOf(tx_reference).values()]
    const refused = all.filter(({ truth }) => truth === 'refused')
    const entry = pick(random() < 0.4 && refused.length > 0 ? refused : all)
    const provider = providersOf(tx_reference).find(({ books }) => entry && books.has(entry.reference))
    if (!entry || !provider) return
    const { reference } = entry
    const isCharged = random() < 0.6 && provider.charge(reference, now, random() < 0.1)
    if (!isCharged && !provider.refuse(reference, now)) return
    const times = entry.knocks ? 1 : pick([0, 0, 1, 1, 3])
    await Promise.all(Array.from({ length: times }, () => knock(reference, !entry.knocks)))
    entry.knocks = false
  }

  // A provider that calls back until it is heard does so here.
  const knock = (reference: string, mayCrash = true) =>
    mayCrash
      ? promptPoll({ db: crashingDb(pick(pools), stage), clock: today }, reference).catch(noteFault)
      : insist(() => promptPoll({ db: pools[0] as Db, clock: today }, reference))

  function step(hot: readonly Payment[]): Promise<unknown> {
    const payment = pick(hot)
    const at = random()
    if (at < 0.26) return customerPays(payment)
    if (at < 0.3) return live(({ db, clock }) => cancel(db, payment, clock()))
    if (at < 0.44) return live(deps => pollDue(deps, noteFault))
    if (at < 0.48) return live(({ db, clock }) => expireDue(db, clock()))
    if (at < 0.52) return shopAsksAgain(payment)
    if (at < 0.57) return customerGivesUp(payment)
    if (at < 0.63) return knock(pick([...booksOf(payment.tx_reference).keys(), 'nobody']))
    if (at < 0.72) return customerTypes(payment)
    if (at < 0.76) return providerTakesBack(payment)
    return providerDecides(payment)
  }

  // Many steps at once, then the clock goes on. Slow answers come later, but nobody waits for them for minutes.
  async function round(hot: readonly Payment[], count: number) {
    await Promise.all(Array.from({ length: count }, () => step(hot)))
    const ms = pick(waits)
    if (ms > minutes(1)) await quiet()
    else for (const release of stage.held) if (random() < 0.4) release()
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
    const all = [...providers.values()].flat()
    for (const { books, refuse } of all) for (const reference of books.keys()) refuse(reference, now)
    const later = [...waitsAtRest]
    for (const ms of later) {
      now += ms
      for (const provider of all) turnSome(provider)
      const deps = createNode(pools[0] as Db, stage, () => {})
      const isUnknown = (error: unknown) => {
        if (error instanceof Unavailable)
          later.push(hours(10)) // it is asked again
        else isOver ??= error as Error
      }
      while ((await insist(() => pollDue(deps, isUnknown))) > 0);
      while ((await insist(() => expireDue(deps.db, deps.clock()))) > 0);
    }
    stage.troubles = true
    if (isOver) throw isOver
  }

  // Some noes become a yes, while they may.
  function turnSome({ manner, books, charge }: Provider) {
    if (manner.isClosing) for (const reference of books.keys()) if (random() < 0.3) charge(reference, now)
  }

  // What was charged by whom, and may still be.
  const booksAt = (tx_reference: string) => ({
    books: booksOf(tx_reference),
    comes: (entry: Entry) =>
      providersOf(tx_reference).some(
        ({ manner, books, canCome }) =>
          manner.isClosing && books.get(entry.reference) === entry && canCome(entry, now),
      ),
  })

  return { round, rest, quiet, pick, random, pages, booksAt, clock: today }
}
