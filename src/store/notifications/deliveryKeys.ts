import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Db, named, type Tx } from '../db.ts'
import type { TakeStatements } from '../skipLocked.ts'

// Keys column by column, for statements about many deliveries.
export const keysOf = (keys: readonly NotificationKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
  sequences: keys.map(key => key.sequence),
})

// Work on those deliveries that no other transaction has locked.
export const amongUnlocked = <Item, Done>(
  items: readonly Item[],
  keyOf: (item: Item) => NotificationKey,
  work: (tx: Tx, items: readonly Item[]) => Promise<readonly Done[]>,
): TakeStatements<Item, Done> => ({
  skipping: (db: Db) =>
    db.transaction(async tx => {
      const locked = (await lockUnlocked(tx, items.map(keyOf))).map(at => items[at] as Item)
      return locked.length > 0 ? work(tx, locked) : []
    }),
  find: async () => items,
  waiting: work,
})

// Locks those that are not locked, and returns their places.
async function lockUnlocked(tx: Tx, keys: readonly NotificationKey[]): Promise<number[]> {
  const { merchants, references, sequences } = keysOf(keys)
  const places = await tx.tuples<[number]>(named('lock_unlocked_deliveries')`
    select wanted.place::integer
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
        with ordinality as wanted (merchant_id, tx_reference, sequence, place)
      join deliveries d on d.merchant_id = wanted.merchant_id and d.tx_reference = wanted.tx_reference
        and d.sequence = wanted.sequence
    for update of d skip locked`)
  return places.map(([place]) => place - 1)
}
