// graphile-worker: one job, one POST.
import { Logger, run, runMigrations } from 'graphile-worker'

export const name = 'graphile'
const atOnce = 10_000 // jobs that are added by one statement
const silent = new Logger(() => () => {})

export const tuned = {
  concurrentJobs: 128, // as many as Tollgate has in flight: with a log each waits for a commit
  pollInterval: 100,
  useNodeTime: true,
  localQueue: { size: 1000 },
  completeJobBatchDelay: 10,
  failJobBatchDelay: 10,
}
export const tuning =
  '128 concurrent jobs, localQueue of 1000, batches of completions after 10 ms, useNodeTime'

export const prepare = url => runMigrations({ connectionString: url, logger: silent })

export const fillSql = (job, count) =>
  `select graphile_worker.add_jobs(array_agg(
      row('ipn', ${job}::json, null, null, null, null, null, null)::graphile_worker.job_spec order by n))
    from generate_series(1, ${count}) n group by n / ${atOnce}`
export const emptySql = 'truncate graphile_worker._private_jobs'
export const tidySql = 'vacuum analyze graphile_worker._private_jobs'
// A job that is done is gone.
export const leftSql = 'select count(*)::int as left from graphile_worker._private_jobs'

export async function work(url, options, send) {
  const runner = await run({
    taskList: { ipn: payload => send(payload) },
    preset: { worker: { connectionString: url, logger: silent, ...options } },
    noHandleSignals: true,
    parsedCronItems: [],
  })
  return async () => {
    await runner.stop()
    await runner.promise
  }
}
