// The two queues for PostgreSQL as contenders: as they come, tuned, and tuned with the fastest client we know.
import { query } from '../rows/database.js'
import { delivering } from '../contenders/deliveryRate.js'
import { jobInSql } from '../rows/deliveries.js'
import * as graphile from './graphileWorker.js'
import { emptyLogSql, logSql, tidyLogSql } from './log.js'
import * as pgBoss from './pgBoss.js'
import { startRival } from './startRival.js'

const asItComes = { sign: '', words: 'as it comes', isTuned: false, client: 'fetch', isLogged: false }
const tuned = { sign: '+', words: 'tuned', isTuned: true, client: 'fetch', isLogged: false }
const byUndici = { sign: '++', words: 'tuned, undici', isTuned: true, client: 'undici', isLogged: false }
const withLog = {
  sign: '++log',
  words: 'tuned, undici, log',
  isTuned: true,
  client: 'undici',
  isLogged: true,
}

const queues = [
  { queue: pgBoss, file: './pgBoss.js', label: 'pg-boss', ways: [asItComes, tuned, byUndici, withLog] },
  {
    queue: graphile,
    file: './graphileWorker.js',
    label: 'graphile-worker',
    ways: [asItComes, tuned, byUndici, withLog],
  },
]

export const tunings = queues.map(({ label, queue }) => `Tuned ${label}: ${queue.tuning}.`)

// `refilling` makes of how to fill what is done before each round; `forDefaults` is for those as they come, whose
// small backlog is filled once.
export const rivals = (bench, receiver, { urls }, body, { refilling, forDefaults }) =>
  Promise.all(
    queues.flatMap(({ queue, file, label, ways }) =>
      ways.map(async ({ sign, words, isTuned, ...sending }, at) => {
        const url = await bench.server.createBare(`${queue.name}_${at}`)
        await queue.prepare(url)
        if (sending.isLogged) await query(url, logSql)
        const fill = filling(queue, url, jobInSql(body, urls), sending.isLogged)
        const contender = delivering(bench, receiver, {
          id: `${queue.name}${sign}`,
          label: `${label} ${words}`,
          url,
          leftSql: queue.leftSql,
          start: () => startRival(file, url, isTuned ? queue.tuned : {}, sending),
          ...(isTuned ? { refill: refilling(fill) } : { own: { measureMs: forDefaults.measureMs } }),
        })
        return { contender, fill, ownCount: isTuned ? undefined : forDefaults.count }
      }),
    ),
  )

const filling = (queue, url, job, isLogged) => async count => {
  const [emptyLog, tidyLog] = isLogged ? [[emptyLogSql], [tidyLogSql]] : [[], []]
  const statements = [queue.emptySql, ...emptyLog, queue.fillSql(job, count), queue.tidySql, ...tidyLog]
  for (const text of [...statements, 'checkpoint']) await query(url, text)
}
