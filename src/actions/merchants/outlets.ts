import type { Actor } from '../../core/access/audit.ts'
import { outletEntry } from '../../core/access/auditEntries.ts'
import type { Db } from '../../store/db.ts'
import { addOutlet, listOutlets, lockMerchant, type Outlet } from '../../store/merchants/merchants.ts'
import { audited } from '../access/audit.ts'

export type { Outlet }
export const outletsOf = listOutlets

const maxOutlets = 2000 // every node reads all of them with the merchant's keys

// `already`: the outlet has this code and this name, as after the same form twice. `taken`: the code has another name.
export type CreatedOutlet = { done: 'added' | 'already'; outlet: Outlet } | { done: 'taken' | 'full' }

// Payment requests may name the outlet within a second.
export const createOutlet = (
  db: Db,
  actor: Actor,
  { merchant_id, code, name }: Omit<Outlet, 'created_at'>,
  now: Date,
): Promise<CreatedOutlet> =>
  audited(db, actor, now, async (tx, record): Promise<CreatedOutlet> => {
    await lockMerchant(tx, merchant_id)
    const all = await listOutlets(tx, merchant_id)
    const outlet = all.find(one => one.code === code)
    if (outlet) return outlet.name === name ? { done: 'already', outlet } : { done: 'taken' }
    if (all.length >= maxOutlets) return { done: 'full' }
    const added = await addOutlet(tx, { merchant_id, code, name, created_at: now })
    if (!added) return { done: 'taken' }
    await record(outletEntry(added))
    return { done: 'added', outlet: added }
  })
