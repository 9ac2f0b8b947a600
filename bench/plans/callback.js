// A provider's callback, alone and beside another provider that is slow.
import { join } from 'node:path'
import { createMeter } from '../contenders/meter.js'
import { query } from '../rows/database.js'
import { shown } from '../contenders/deliveryLatency.js'
import { addAttempts, sendCallbacks } from '../load/callbacks.js'
import { providers, simulatedProviders } from '../endpoints/providers.js'
import { withProviders } from '../endpoints/withProviders.js'
import { thisVersion } from '../version.js'

const sick = { from: 1, to: 600, due: `now() - interval '1 minute'` }
const callbacks = { from: 1001, due: `now() + interval '1 hour'` } // only a callback makes them be asked about
const gapMs = 150

export function callbackSection(bench, { rounds, count }) {
  const place = {}
  const callback_received = { ...callbacks, to: callbacks.from + count - 1 }
  const contender = (id, label, isBeside) => ({
    id,
    label,
    async run() {
      const { database, simulated } = place
      await query(
        database.url,
        `alter table transfers disable trigger transfers_append_only;
         truncate payments, events, attempts, tasks, transfers cascade`,
      )
      await addAttempts(database, 'well', callback_received)
      if (isBeside) await addAttempts(database, 'sick', sick)
      const begun = isBeside ? simulated.nextQuestion('sick') : undefined
      const gateway = await bench.startGateway(database, simulated.env)
      try {
        await begun
        return await timeKnocks(bench, gateway, callback_received)
      } finally {
        await gateway.stop()
      }
    },
  })
  return {
    title: 'A callback while another provider is slow',
    table: 'callback',
    about: [
      `Two simulated providers over HTTP. One has been paid and calls back for ${count} attempts, one every ${gapMs} ms; then the same`,
      `beside ${sick.to} attempts that are due at another, which takes 5 s for each answer. Milliseconds from the callback to the`,
      'status check that says paid.',
    ],
    rounds,
    job: { warmMs: 0, measureMs: count * gapMs },
    contenders: [
      contender('alone', '(c) alone', false),
      contender('beside', '(c) beside the sick one', true),
    ],
    ratios: [{ name: 'p99 beside/alone', of: 'beside', to: 'alone', by: 'p99' }],
    limits: [{ name: 'worst ms, beside', of: 'beside', by: 'worst', below: 2000, always: true }],
    async prepare() {
      await bench.stopGateways()
      place.simulated = await bench.startProviders()
      const folder = join(bench.folder, providers.join('_'))
      const version = await withProviders(thisVersion, folder, simulatedProviders)
      place.database = await bench.server.create('callback', version)
    },
  }
}

async function timeKnocks(bench, gateway, callback_received) {
  const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  meter.start()
  const times = await sendCallbacks(gateway, callback_received, gapMs)
  meter.stop()
  const { user, system } = process.cpuUsage(cpuBefore)
  const requests = times.length
  const rate = (requests * 1000) / (performance.now() - began)
  const used = meter.complete({ requests, rate, cpuMs: (user + system) / 1000 })
  return { ...used, ...shown(times.map(ms => ({ ms }))) }
}
