// A payment from its initiation to the shop that knows it is paid.
import { openPayers, openPayPlace, unknownPlace } from '../contenders/checkoutPlace.js'
import { paying } from '../contenders/payments.js'
import { through } from '../contenders/requests.js'
import { whole } from '../report/tables.js'
import { fill } from '../rows/database.js'
import { thisVersion } from '../version.js'

const warmMs = 400
const graceMs = 150_000 // for those who pay before and after the measuring
const atOnce = { few: 10, crowd: 200 } // who pay at the same time; the crowd keeps the gateway busy
const stored = 1000 // a status check has to find something

const about = [
  'Initiation, page, form, start at the provider, its callback, asking it, paid, the notification at the shop, and one',
  'status check. The provider is a process of its own; the customers and the endpoints of 64 shops are another. Times',
  'are from the click until that status check; 500 ms of them are the provider. An SMS and a mail are written for each',
  'and kept in the inbox, as no messenger is set up.',
]
const titled = {
  title: 'Whole payment',
  table: 'payments',
  job: { warmMs, graceMs },
}

export function wholePayment(bench, { rounds, measureMs, warmUpMs = measureMs, initiationMs, ...counts }) {
  const { few, crowd } = { ...atOnce, ...counts }
  const place = unknownPlace()
  const payers = [few, crowd].map(count =>
    paying(bench, place, { id: `pay${count}`, label: '(c) payments', count }),
  )
  const alone = { count: crowd, measureMs: initiationMs }
  return {
    ...titled,
    about: [...about, 'The last lines tell how many initiations cost as much as one payment.'],
    rounds,
    job: { ...titled.job, measureMs },
    warmUpMs,
    contenders: [initiation(bench, place, alone), statusCheck(bench, place, alone), ...payers],
    ratios: [
      { name: 'initiations to a payment, rate', of: 'initiation', to: `pay${crowd}`, by: 'rate' },
      { name: 'initiations to a payment, CPU', of: `pay${crowd}`, to: 'initiation', by: 'cpu', atMost: 25 },
    ],
    async prepare() {
      await bench.stopGateways()
      await openPayPlace(bench, place, 'pay', thisVersion, await openPayers(bench))
    },
    facts: () => ({
      notes: [
        ...payers.map(countedLine),
        `The gateway took at most ${whole(place.gateway.peakMemoryMb())} MB.`,
      ],
    }),
  }
}

export function wholePaymentBeside(
  bench,
  versions,
  { rounds, measureMs, warmUpMs = measureMs, ...counts },
  title,
) {
  const { crowd } = { ...atOnce, ...counts }
  const both = versions.map(each => ({ ...each, place: unknownPlace() }))
  const contenders = both.map(({ id, label, place }) => paying(bench, place, { id, label, count: crowd }))
  return {
    ...titled,
    title,
    about,
    rounds,
    job: { ...titled.job, measureMs },
    warmUpMs,
    contenders,
    ratios: [
      { name: 'new/former, rate', of: 'new', to: 'former', by: 'rate', atLeast: 0.95 },
      { name: 'new/former, CPU', of: 'new', to: 'former', by: 'cpu' },
    ],
    async prepare() {
      await bench.stopGateways()
      const payers = await openPayers(bench)
      for (const { id, version, place } of both)
        await openPayPlace(bench, place, `pay_${id}`, version, payers)
    },
    facts: () => ({ notes: contenders.map(countedLine) }),
  }
}

const initiation = (bench, { gateway, dataset }, { count, measureMs }) =>
  through(bench, gateway, dataset, {
    id: 'initiation',
    label: '(c) initiation',
    count,
    emptied: true,
    kind: 'initiation',
    measureMs,
  })

function statusCheck(bench, { gateway, dataset }, { count, measureMs }) {
  const own = { id: 'status', label: '(c) status check', count, kind: 'status', stored, measureMs }
  const contender = through(bench, gateway, dataset, own)
  return {
    ...contender,
    async run(job) {
      await fill(dataset, stored)
      return contender.run(job)
    },
  }
}

const countedLine = ({ label, connections, total: { payments, asks, walBytes, transactions } }) =>
  `${label}, ${connections} at once: ${whole(payments)} payments, each paid, charged and told of once; ` +
  `the provider was asked ${(asks / payments).toFixed(2)} times about each. Each wrote ${whole(walBytes / payments)} ` +
  `bytes of WAL in ${(transactions / payments).toFixed(2)} transactions.`
