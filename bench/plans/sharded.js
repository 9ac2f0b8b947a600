// The same load on one PostgreSQL and on a sharded one, in turn. All merchants of the dataset send it, so both workers are used.
import { openPayers, openPayPlace, unknownPlace } from '../contenders/checkoutPlace.js'
import { paying } from '../contenders/payments.js'
import { through } from '../contenders/requests.js'
import { emptyAll, query } from '../rows/database.js'
import { rowInSql, storedParts } from '../rows/payments.js'
import { thisVersion } from '../version.js'
import { once } from './once.js'

const warmMs = 400
const graceMs = 150_000
const storedOfEach = 300 // payments of a merchant, for status checks

// A side is a bench with another server, its id and its label.
export function sharded(sides, { rounds, measureMs, warmUpMs, count, payers }) {
  const all = sides.map(side => ({ ...side, place: unknownPlace() }))
  const start = once(async () => {
    const people = await openPayers(sides[0].bench)
    for (const { bench, id, place } of all) await openPayPlace(bench, place, `pay_${id}`, thisVersion, people)
  })
  // An idle gateway polls, so that of the other side is stopped.
  const alone = contender => ({
    ...contender,
    async run(job) {
      for (const { place } of all)
        if (place.gateway === contender.gateway) place.gateway.goOn()
        else place.gateway.pause()
      return contender.run(job)
    },
  })
  const section = (title, contenderOf, more = {}) => ({
    title,
    table: 'sharded',
    rounds,
    warmUpMs,
    job: { warmMs, measureMs, graceMs },
    contenders: all.map(side => alone(contenderOf(side))),
    ratios: sides.slice(1).flatMap(({ id, label }) => [
      { name: `${label}/${sides[0].label}, rate`, of: id, to: sides[0].id, by: 'rate' },
      { name: `${label}/${sides[0].label}, CPU`, of: id, to: sides[0].id, by: 'cpu' },
    ]),
    prepare: start,
    ...more,
  })
  const requests =
    (kind, emptied) =>
    ({ bench, id, label, place }) =>
      through(bench, place.gateway, place.dataset, {
        id,
        label,
        count,
        kind,
        emptied,
        ofAll: true,
        stored: storedOfEach,
      })
  const fillAll = async () => {
    await start()
    for (const { place } of all) await fill(place.dataset)
  }
  return [
    section('Initiation', requests('initiation', true)),
    section('Status check', requests('status', false), { prepare: fillAll }),
    section('Whole payment', ({ bench, id, label, place }) =>
      paying(bench, place, { id, label, count: payers }),
    ),
  ]
}

async function fill(dataset) {
  await emptyAll(dataset)
  for (const merchant of dataset.callers) {
    const row = rowInSql(merchant, { ...storedParts, status: `'paid'` })
    await query(
      dataset.url,
      `insert into payments (${Object.keys(row).join(', ')})
        select ${Object.values(row).join(', ')} from generate_series(1, ${storedOfEach}) n`,
    )
  }
  await query(dataset.url, 'vacuum analyze payments')
}
