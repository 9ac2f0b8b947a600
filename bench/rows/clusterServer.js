// A server of test/cluster as one of the bench. It has one database, because Citus creates none on its workers.
import { cpuMsOfFamily } from '../contenders/usage.js'
import { prepareDatabase, query } from './database.js'

const sum = numbers => numbers.reduce((total, n) => total + n, 0)

export async function clusterServer({ url, what, pid, workers = [] }) {
  const [{ version }] = await query(url, `select current_setting('server_version') as version`)
  const coordinatorMs = () => cpuMsOfFamily(pid())
  const workersMs = () => sum(workers.map(worker => cpuMsOfFamily(worker.pid())))
  return {
    what: `${what}, PostgreSQL ${version}`,
    cpuMs: () => coordinatorMs() + workersMs(),
    partsMs: workers.length > 0 ? { coordinator: coordinatorMs, workers: workersMs } : undefined,
    async create(_name, given) {
      const made = await prepareDatabase(url, given)
      // Where the tables are distributed, a missing privilege protects these, and rounds begin with empty tables.
      if (workers.length > 0) await query(url, 'grant truncate on transfers, ledger_seals to current_user')
      return made
    },
  }
}
