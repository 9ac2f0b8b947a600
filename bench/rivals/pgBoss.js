// pg-boss: one job, one POST.
import { setTimeout as sleep } from 'node:timers/promises'
import PgBoss from 'pg-boss'

export const name = 'boss'
const queue = 'ipn'
const completionMs = 1000

// A worker of version 10 rests after each batch, at least until half a second has passed since it fetched. Where
// there is more to do it can be made to continue.
export const tuned = { workers: 2, batchSize: 2000, pollingIntervalSeconds: 0.5, goOn: true }
export const tuning = `2 workers, batchSize 2000 sent all at once, notifyWorker instead of its pause`

export async function prepare(url) {
  const boss = new PgBoss(url)
  await boss.start()
  await boss.createQueue(queue)
  await boss.stop({ graceful: false })
}

export const fillSql = (job, count) =>
  `insert into pgboss.job (name, data, policy)
    select '${queue}', ${job}, 'standard' from generate_series(1, ${count}) n`
export const emptySql = 'truncate pgboss.job'
export const tidySql = 'vacuum analyze pgboss.job'
export const leftSql = `select count(*)::int as left from pgboss.job where state <> 'completed'`

export async function work(url, { workers = 1, goOn, ...options }, send) {
  const boss = new PgBoss(url)
  boss.on('error', error => console.error(error))
  await boss.start()
  const underWay = new Set()
  for (let number = 0; number < workers; number++) {
    const id = await boss.work(queue, options, async jobs => {
      underWay.add(jobs)
      await Promise.all(jobs.map(job => send(job.data)))
      underWay.delete(jobs)
      if (goOn) boss.notifyWorker(id)
    })
  }
  return async () => {
    await boss.offWork(queue)
    while (underWay.size > 0) await sleep(50)
    await sleep(completionMs) // its stop does not wait until the last batch is noted as done
    await boss.stop({ graceful: true, wait: true, timeout: 20_000 })
  }
}
