// What is measured of the customer's side.
import { behindProxy } from '../contenders/gateway.js'
import { through } from '../contenders/requests.js'
import { fill } from '../rows/database.js'
import { once } from './once.js'
import { weigh } from '../load/pageWeight.js'
import { cancelForm } from './cancelForm.js'
import { hangingSection, simulatedProvidersSection } from './simulatedProviders.js'
import { wholePayment } from './wholePayment.js'

// A page runs through much more code than a status check, and there are fewer of them a second: it takes some thousands
// until all of it is compiled. A short measure on a machine that others use may see not one.
const lengths = {
  whole: {
    view: { rounds: 5, measureMs: 2000, warmUpMs: 10_000 },
    pay: { rounds: 5, measureMs: 4000, initiationMs: 2000 },
    cancel: { rounds: 3, measureMs: 3000 },
    simulated: { rounds: 5, measureMs: 4000 },
  },
  quick: {
    view: { rounds: 3, measureMs: 2000, warmUpMs: 6000 },
    pay: { rounds: 2, measureMs: 3000, initiationMs: 700 },
    cancel: { rounds: 1, measureMs: 2000 },
    simulated: { rounds: 2, measureMs: 3000 },
  },
  smallest: {
    view: { rounds: 1, measureMs: 700, warmUpMs: 0, stored: 2000 },
    pay: { rounds: 1, measureMs: 1500, warmUpMs: 0, initiationMs: 700, few: 2, crowd: 4 },
    cancel: { rounds: 1, measureMs: 700, warmUpMs: 0, count: 8 },
    simulated: { rounds: 1, measureMs: 2000, warmUpMs: 0, customers: 4, hanging: 4, newWarmMs: 100 },
  },
}
const warmMs = 400
const usualStored = 20_000
const viewers = 64

export function checkout(bench, size) {
  const { view, pay, cancel, simulated } = lengths[size]
  const [database, gateway] = [{}, {}]
  const start = once(async () => {
    Object.assign(database, await bench.server.create('checkout'))
    // Its memory is reported separately from that of the interface.
    Object.assign(gateway, await bench.startGateway(database, behindProxy))
  })
  return [
    firstView(bench, gateway, database, { ...view, start }),
    wholePayment(bench, pay),
    simulatedProvidersSection(bench, simulated),
    hangingSection(bench, simulated),
    cancelForm(bench, cancel),
  ]
}

// (d) is known only when the page is: it is filled in before the first round.
function firstView(bench, gateway, database, { rounds, measureMs, warmUpMs, stored = usualStored, start }) {
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
      { name: 'status checks to a page, CPU', of: 'page', to: 'status', by: 'cpu', atMost: 4 },
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
