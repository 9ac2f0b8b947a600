// Where customers pay: a gateway of a version that has a line to the provider, on a database with many merchants.
import { join } from 'node:path'
import { withProviders } from '../endpoints/withProviders.js'
import { createDataset } from '../rows/dataset.js'
import { behindProxy, toThisMachine } from './gateway.js'
import { openPorts } from './payments.js'

const endpoints = 64

// Known when the first round begins.
export const unknownPlace = () => ({ gateway: {}, dataset: {} })

export const openPayers = async bench => ({
  provider: await bench.startPayProvider(),
  customers: bench.startCustomers(),
})

export async function openPayPlace(bench, place, name, version, { provider, customers }) {
  const paid = await withProviders(version, join(bench.folder, name), { pay: './payProviderModule.js' })
  const ports = await openPorts(customers, endpoints)
  Object.assign(place.dataset, await createDataset(bench, name, ports, paid))
  const env = { ...toThisMachine, ...behindProxy, ...provider.env, TOLLGATE_PROVIDERS: 'pay' }
  Object.assign(place.gateway, await bench.startGateway(place.dataset, env))
  Object.assign(place, { provider, customers })
}

export async function openCancelPlace(bench, place, name, version, customers) {
  const ports = await openPorts(customers, endpoints)
  Object.assign(place.dataset, await createDataset(bench, name, ports, version))
  const env = { ...toThisMachine, ...behindProxy }
  Object.assign(place.gateway, await bench.startGateway(place.dataset, env))
  Object.assign(place, { customers })
}
