import type { Db, Query, Tx } from '../../../src/store/db.ts'

const isOfOneMerchant = /where ([ap]\.)?merchant_id = \$\d/

// A database that refuses to lock rows of several merchants, as a sharded one does. `refused` counts how often.
export function withoutSkipLocked(db: Db): { db: Db; refused(): number } {
  let count = 0
  const unless = async <T>(query: Query, work: () => Promise<T>): Promise<T> => {
    if (!/for update/i.test(query.text) || isOfOneMerchant.test(query.text)) return work()
    count++
    throw Object.assign(new Error('could not run distributed query with FOR UPDATE/SHARE commands'), {
      code: '0A000',
    })
  }
  const refusing = (tx: Tx): Tx => ({
    rows: query => unless(query, () => tx.rows(query)),
    one: query => unless(query, () => tx.one(query)),
    count: query => unless(query, () => tx.count(query)),
    tuples: query => unless(query, () => tx.tuples(query)),
    writeWithCommit: query => tx.writeWithCommit(query),
    locks: tx.locks, // one server, whose parts of a statement do not see each other's rows
  })
  return {
    db: {
      ...db,
      ...refusing(db),
      locks: { strategy: { state: 'untested' } },
      transaction: work => db.transaction(tx => work(refusing(tx))),
    },
    refused: () => count,
  }
}
