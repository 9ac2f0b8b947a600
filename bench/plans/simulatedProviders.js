// Whole payments through the providers that the gateway has, with simulated providers.
import { unknownPlace } from '../contenders/checkoutPlace.js'
import { behindProxy, toThisMachine } from '../contenders/gateway.js'
import { openPorts, paying } from '../contenders/payments.js'
import { hangOrders } from '../load/hungOrders.js'
import { query } from '../rows/database.js'
import { createDataset } from '../rows/dataset.js'
import { thisVersion } from '../version.js'

const warmMs = 400
const graceMs = 150_000
const usual = {
  customers: 50,
  hanging: 150, // orders
  newWarmMs: 3000, // of a gateway that has just begun
}
const endpoints = 64
const ends = '000' // of a number that the sandbox lets pay by itself

const common = ({ rounds, measureMs, warmUpMs = measureMs }) => ({
  table: 'payments',
  rounds,
  job: { warmMs, graceMs, measureMs, ends },
  warmUpMs,
})

export function simulatedProvidersSection(bench, lengths) {
  const { customers } = { ...usual, ...lengths }
  const lines = ['sandbox', 'mtn', 'paystack'].map(name => ({ name, place: unknownPlace() }))
  return {
    ...common(lengths),
    title: 'Whole payment through simulated providers',
    about: [
      'By the sandbox, which is a part of the gateway, and by MTN and Paystack as the tests play them, in a process of their',
      'own. The customer approves after 600 ms. The cost of the simulators has its own column.',
    ],
    contenders: lines.map(({ name, place }) =>
      paying(bench, place, { id: name, label: `(c) by ${name}`, count: customers }),
    ),
    ratios: ['mtn', 'paystack'].flatMap(id => [
      { name: `${id}/sandbox, rate`, of: id, to: 'sandbox', by: 'rate' },
      { name: `${id}/sandbox, CPU`, of: id, to: 'sandbox', by: 'cpu' },
    ]),
    async prepare() {
      await bench.stopGateways()
      const people = { simulators: await bench.startSimulators(), customers: bench.startCustomers() }
      for (const { name, place } of lines) await openPlace(bench, place, name, [name], people)
    },
  }
}

// Each round has its own gateways, because a gateway avoids a provider for a while after it hung.
export function hangingSection(bench, lengths) {
  const { customers, hanging, newWarmMs } = { ...usual, ...lengths }
  const [alone, beside] = [unknownPlace(), unknownPlace()]
  const contender = (place, id, label, more) => paying(bench, place, { id, label, count: customers, ...more })
  return {
    ...common(lengths),
    job: { ...common(lengths).job, warmMs: newWarmMs },
    warmUpMs: 0,
    title: 'Whole payment beside a provider that hangs',
    about: [
      `By the simulated MTN, alone and while ${hanging} orders of another shop hang at the simulated Paystack, which has taken them`,
      'and says nothing.',
    ],
    contenders: [
      contender(alone, 'alone', '(c) by mtn, alone', { meanwhile: place => startAnew(bench, place) }),
      contender(beside, 'beside', '(c) beside one that hangs', {
        meanwhile: async place => {
          await startAnew(bench, place)
          return hangMeanwhile(place, hanging)
        },
      }),
    ],
    ratios: [
      { name: 'beside/alone, rate', of: 'beside', to: 'alone', by: 'rate', atLeast: 0.8 },
      { name: 'p99 beside/alone', of: 'beside', to: 'alone', by: 'p99', atMost: 1.5 },
    ],
    async prepare() {
      await bench.stopGateways()
      const people = { simulators: await bench.startSimulators(), customers: bench.startCustomers() }
      await openPlace(bench, alone, 'alone', ['mtn', 'paystack'], people)
      await openPlace(bench, beside, 'beside', ['mtn', 'paystack'], people)
    },
  }
}

// The first of the providers serves every shop but one, which has the last.
async function openPlace(bench, place, name, providers, { simulators, customers: people }) {
  const [first] = providers
  const ports = await openPorts(people, endpoints)
  const dataset = await createDataset(bench, `simulated_${name}`, ports, thisVersion, [`providers=${first}`])
  await setProvider(dataset, dataset.merchant.merchant_id, providers.at(-1))
  Object.assign(place.dataset, dataset)
  const settings = Object.assign({}, ...providers.map(provider => simulators.env[provider]))
  const sandbox = first === 'sandbox' ? {} : { TOLLGATE_SANDBOX: 'off' } // it would serve where another does not
  place.env = { ...toThisMachine, ...behindProxy, ...sandbox, ...settings }
  Object.assign(place.gateway, await bench.startGateway(place.dataset, place.env))
  const provider = first === 'sandbox' ? sandboxOf(dataset) : simulators.provider(first)
  Object.assign(place, { provider, simulators, customers: people })
  if (first === 'paystack') await simulators.sendWebhooksTo(await webhookOf(place.gateway))
}

async function startAnew(bench, { gateway, dataset, env }) {
  await gateway.stop()
  Object.assign(gateway, await bench.startGateway(dataset, env))
  return async () => {}
}

async function setProvider({ url }, merchant_id, provider) {
  const [{ openDb }, { setMerchant }] = await thisVersion.load('store/db', 'actions/merchants/setMerchant')
  const db = openDb(url, 2, 'bench')
  await setMerchant(db, merchant_id, [`providers=${provider}`])
  await db.end()
}

// It keeps its books beside ours; what it costs is in the gateway.
const sandboxOf = ({ url }) => ({
  forget: () => {},
  cpuMs: () => 0,
  async count() {
    const [{ orders }] = await query(url, 'select count(*)::int as orders from sandbox_charges')
    return { orders, charged: orders, sentAgain: 0, asks: 0 }
  },
})

async function webhookOf({ port }) {
  const [{ webhookIdOf }] = await thisVersion.load('runtime/providers/accounts')
  return `http://127.0.0.1:${port}/callbacks/account/${webhookIdOf('paystack')}`
}

// The shop without an endpoint has its payments at the account that hangs. They go before anything is counted.
async function hangMeanwhile({ gateway, dataset, simulators }, count) {
  const { merchant_id } = gateway.merchant
  await simulators.hang(true)
  await hangOrders(gateway, count)
  return async () => {
    for (const table of ['attempts', 'events', 'payments'])
      await query(dataset.url, `delete from ${table} where merchant_id = '${merchant_id}'`)
    await simulators.hang(false)
  }
}
