import { sql, type Tx } from '../db.ts'

export type Outlet = { merchant_id: string; code: string; name: string; created_at: Date }

// Gives back the outlet when it is new, undefined when the code is taken.
export const addOutlet = (tx: Tx, o: Outlet) =>
  tx.one<Outlet>(sql`
    insert into outlets (merchant_id, code, name, created_at)
    values (${o.merchant_id}, ${o.code}, ${o.name}, ${o.created_at})
    on conflict (merchant_id, code) do nothing returning *`)

export const listOutlets = (tx: Tx, merchant_id: string) =>
  tx.rows<Outlet>(sql`select * from outlets where merchant_id = ${merchant_id} order by code`)

export const listAllOutlets = (tx: Tx) =>
  tx.rows<Outlet>(sql`select * from outlets order by merchant_id, code`)
