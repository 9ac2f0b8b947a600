// What is measured of the customer's side.
import { through } from '../contenders/requests.js'
import { fill } from '../rows/database.js'
import { once } from './once.js'
import { weigh } from '../load/pageWeight.js'
import { paying } from '../contenders/payments.js'

const lengths = {
  whole: { rounds: 5, measureMs: 2000, warmUpMs: 4000, payRounds: 4, payMs: 3500, crowd: 200 },
  quick: { rounds: 3, measureMs: 700, warmUpMs: 2000, payRounds: 2, payMs: 3000, crowd: 50 },
}
const warmMs = 400
const payGraceMs = 150_000 // for those who pay before and after the measuring
const stored = 20_000
const viewers = 64
const behindProxy = { TOLLGATE_TRUST_PROXY: '1' }
const few = 10 // who pay at the same time, beside a crowd that keeps the gateway busy

export function checkout(bench, quick) {
  const length = lengths[quick ? 'quick' : 'whole']
  const [database, gateway] = [{}, {}]
  const start = once(async () => {
    Object.assign(database, await bench.server.create('checkout'))
    // Its memory is told apart from that of the interface.
    Object.assign(gateway, await bench.startGateway(database, behindProxy))
  })
  return [
    firstView(bench, gateway, database, { ...length, start }),
    wholePayment(bench, gateway, database, { ...length, start }),
  ]
}

// (d) is known only when the page is: it is filled in before the first round.
function firstView(bench, gateway, database, { rounds, measureMs, warmUpMs, start }) {
  const ready = {}
  const files = []
  const count = viewers
  const contender = (server, id, label, kind) =>
    through(bench, server, database, { id, label, count, kind, stored })
  return {
    title: 'Checkout page',
    about: [
      'The first view of a payment that nobody has paid yet, in test mode, rendered for each request and gzipped.',
      '(d) is a bare Node server that sends the same bytes ready-made: the most that Node can do here. The ratios',
      'tell how many of its answers, and how many status checks, cost as much as one page.',
    ],
    rounds,
    warmUpMs,
    job: { warmMs, measureMs },
    contenders: [
      contender(ready, 'd', '(d) the same bytes, ready-made', 'page'),
      contender(gateway, 'status', '(c) status check', 'status'),
      contender(gateway, 'page', '(c) checkout page', 'page'),
    ],
    ratios: [
      { name: '(d)/checkout page', of: 'd', to: 'page', by: 'rate' },
      { name: 'status checks to a page, rate', of: 'status', to: 'page', by: 'rate' },
      { name: 'status checks to a page, CPU', of: 'page', to: 'status', by: 'cpu' },
    ],
    async prepare() {
      await start()
      await fill(database, stored, `'awaiting_payment'`)
      const weighed = await weigh(gateway)
      files.push(...weighed.files)
      Object.assign(ready, await bench.startReadyMade(weighed.page, gateway.merchant))
    },
    facts: () => ({ files }),
  }
}

function wholePayment(bench, gateway, database, { measureMs, payRounds, payMs, crowd, start }) {
  const payers = [few, crowd].map(count =>
    paying(bench, gateway, database, { id: `pay${count}`, label: `(c) payments, ${count} at once`, count }),
  )
  const initiation = through(bench, gateway, database, {
    id: 'initiation',
    label: '(c) initiation',
    count: crowd,
    emptied: true,
    kind: 'initiation',
    measureMs,
  })
  return {
    title: 'Whole payment',
    about: [
      'Initiation, page, form, the simulated provider over HTTP (in the same process), its callback, asking it, paid.',
      'Times are from the click until a status check says paid; each payment is asked about 4 to 20 times a second.',
      '600 ms of them are the provider. The last lines tell how many initiations cost as much as one payment.',
    ],
    rounds: payRounds,
    prepare: start,
    job: { warmMs, measureMs: payMs, graceMs: payGraceMs },
    warmUpMs: payMs,
    contenders: [initiation, ...payers],
    ratios: [
      { name: 'initiations to a payment, rate', of: 'initiation', to: `pay${crowd}`, by: 'rate' },
      { name: 'initiations to a payment, CPU', of: `pay${crowd}`, to: 'initiation', by: 'cpu' },
    ],
    facts: () => ({
      paid: payers.reduce((sum, { total }) => sum + total.payments, 0),
      megabytes: gateway.peakMemoryMb(),
    }),
  }
}
