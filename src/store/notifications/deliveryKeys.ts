import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import type { TakeStatements } from '../skipLocked.ts'

// Keys column by column, for statements about many deliveries.
export const keysOf = (keys: readonly NotificationKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
  sequences: keys.map(key => key.sequence),
})

// A FROM item with one row for each key.
export function unnestDeliveryKeys(keys: readonly NotificationKey[], isNumbered = false) {
  const { merchants, references, sequences } = keysOf(keys)
  const unnested = sql`unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])`
  return isNumbered
    ? sql`${unnested} with ordinality as k (merchant_id, tx_reference, sequence, place)`
    : sql`${unnested} as k (merchant_id, tx_reference, sequence)`
}

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
  const places = await tx.tuples<[number]>(named('lock_unlocked_deliveries')`
    select k.place::integer
    from ${unnestDeliveryKeys(keys, true)}
      join deliveries d on d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference
        and d.sequence = k.sequence
    for update of d skip locked`)
  return places.map(([place]) => place - 1)
}
