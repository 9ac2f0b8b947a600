// Payments whose time is over end in batches: how fast, beside how fast new ones come in.
import { through } from '../contenders/requests.js'
import { startOurs } from '../contenders/deliveryRate.js'
import { expiring, startExpirer } from '../contenders/expiry.js'
import { createDataset } from '../rows/dataset.js'

const endpoints = 64
const connections = 256
const usualWarmMs = 500
const usualInitiationMs = 2000

export function expirySection(
  bench,
  {
    rounds,
    measureMs,
    warmMs = usualWarmMs,
    initiationMs = usualInitiationMs,
    warmUpMs = initiationMs,
    ...more
  },
) {
  const [place, database, gateway] = /** @type {any[]} */ ([{}, {}, {}])
  const contender = (id, label, isTold, start) => expiring(bench, place, { id, label, isTold, start })
  const initiation = {
    id: 'initiation',
    label: '(c) initiation',
    count: connections,
    emptied: true,
    kind: 'initiation',
    measureMs: initiationMs,
  }
  return {
    title: 'Expiry',
    table: 'expiry',
    about: [
      `Payments of ${endpoints} merchants whose time is over, ended with nothing else to do; initiation at ${connections} connections, alone`,
      'too. Told: each ending is written down as a notification as well. Those are left to nobody, except in the last line,',
      'where a whole gateway ends payments and carries its notifications to endpoints that answer at once.',
    ],
    rounds,
    warmUpMs,
    job: { warmMs, measureMs, ...more },
    contenders: [
      through(bench, gateway, database, initiation),
      contender('untold', '(c) nobody to tell', false, some(1)),
      contender('told', '(c) told', true, some(1)),
      contender('untold2', '(c) nobody to tell, two nodes', false, some(2)),
      contender('told2', '(c) told, two nodes', true, some(2)),
      contender('carried', '(c) told and carried', true, async dataset => [await startOurs(bench, dataset)]),
    ],
    ratios: [
      ratio('nobody to tell/initiation', 'untold', 'initiation', { atLeast: 0.5 }),
      ratio('told/initiation', 'told', 'initiation', { atLeast: 0.3 }),
      ratio('told and carried/initiation', 'carried', 'initiation'),
      ratio('two nodes/one, nobody to tell', 'untold2', 'untold'),
      ratio('two nodes/one, told', 'told2', 'told'),
    ],
    async prepare() {
      await bench.stopGateways()
      Object.assign(database, await bench.server.create('expiry_initiation'))
      Object.assign(gateway, await bench.startGateway(database, {}))
      const ports = await bench.startReceiver().open(Array(endpoints).fill('ok'))
      place.dataset = await createDataset(bench, 'expiry', ports)
    },
  }
}

const some = count => dataset => Promise.all(Array.from({ length: count }, () => startExpirer(dataset)))
const ratio = (name, of, to, target) => ({ name, of, to, by: 'rate', ...target })
