import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Db, named, type Tx } from '../db.ts'
import type { TakeStatements } from '../skipLocked.ts'
import { keysOf } from './notificationKeys.ts'

// Work on some deliveries, without those that somebody else holds.
export const amongUnlocked = <Item, Done>(
  items: readonly Item[],
  keyOf: (item: Item) => NotificationKey,
  work: (tx: Tx, items: readonly Item[]) => Promise<readonly Done[]>,
): TakeStatements<Item, Done> => ({
  skipping: (db: Db) =>
    db.transaction(async tx => {
      const free = (await lockFree(tx, items.map(keyOf))).map(at => items[at] as Item)
      return free.length > 0 ? work(tx, free) : []
    }),
  find: async () => items,
  waiting: work,
})

// Which of them nobody else holds; now we do.
async function lockFree(tx: Tx, keys: readonly NotificationKey[]): Promise<number[]> {
  const { merchants, references, sequences } = keysOf(keys)
  const places = await tx.tuples<[number]>(named('lock_free_deliveries')`
    select wanted.place::integer
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
        with ordinality as wanted (merchant_id, tx_reference, sequence, place)
      join deliveries d on d.merchant_id = wanted.merchant_id and d.tx_reference = wanted.tx_reference
        and d.sequence = wanted.sequence
    for update of d skip locked`)
  return places.map(([place]) => place - 1)
}
