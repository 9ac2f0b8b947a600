// What came of each job, kept as Tollgate keeps it: a row that is found by the id, committed before the job is called
// done. Rows that come while a statement is on its way go with the next.
import pg from 'pg'

const atOnce = 256

export const logSql = `create table if not exists log (id text primary key, started_at timestamptz not null,
  ms integer not null, address text, status integer not null, answer bytea)`
export const emptyLogSql = 'truncate log'
export const tidyLogSql = 'vacuum analyze log'

export function openLog(url) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  let waiting = []
  let isBusy = false

  async function flush() {
    isBusy = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, atOnce)
      const column = name => batch.map(({ row }) => row[name])
      try {
        await pool.query({
          name: 'log',
          text: `insert into log select * from unnest($1::text[], $2::timestamptz[], $3::integer[], $4::text[],
            $5::integer[], $6::bytea[]) on conflict do nothing`,
          values: ['id', 'started_at', 'ms', 'address', 'status', 'answer'].map(column),
        })
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isBusy = false
  }

  return {
    add: row =>
      new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject })
        if (!isBusy) setImmediate(() => isBusy || void flush())
      }),
    close: () => pool.end(),
  }
}
