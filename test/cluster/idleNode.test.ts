import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { migratedDatabase } from '../support/database/database.ts'
import { isSharded, titleOnSharded } from '../support/database/shardedDatabase.ts'
import { testGateway } from '../support/gateway/gateway.ts'

const quietMs = 3000 // all workers that poll do it several times
const quietWithinMs = 60_000 // the servers have work of their own now and then

// The numbers of transactions count all databases of a server, so no other test may run on the cluster.
describe.skipIf(!isSharded)(titleOnSharded('an idle node'), () => {
  test('commits nothing on any of the servers', async () => {
    const gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, {}, await migratedDatabase())
    // The numbers of the next transactions, at the coordinator and at its workers. One that only reads takes none.
    const nextNumbers = () =>
      gateway.db.one(sql`
        select pg_snapshot_xmax(pg_current_snapshot())::text as here, (select jsonb_agg(result) from
          run_command_on_workers('select pg_snapshot_xmax(pg_current_snapshot())')) as at_workers`)
    const isQuiet = async () => {
      const before = await nextNumbers()
      await sleep(quietMs)
      return isDeepStrictEqual(await nextNumbers(), before)
    }
    try {
      await expect.poll(isQuiet, { timeout: quietWithinMs }).toBe(true)
    } finally {
      await gateway.stop()
    }
  }, 240_000)
})
