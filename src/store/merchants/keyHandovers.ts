import { sql, type Tx } from '../db.ts'

export type KeyHandover = {
  merchant_id: string
  handover_id: string
  sealed_keys: Buffer | null
  made_by: string
  created_at: Date
  expires_at: Date
  opened_at: Date | null
  revoked_at: Date | null
}

export const addKeyHandover = (tx: Tx, h: Omit<KeyHandover, 'opened_at' | 'revoked_at'>) =>
  tx.rows(sql`
    insert into key_handovers (merchant_id, handover_id, sealed_keys, made_by, created_at, expires_at)
    values (${h.merchant_id}, ${h.handover_id}, ${h.sealed_keys}, ${h.made_by}, ${h.created_at}, ${h.expires_at})
    on conflict (merchant_id, handover_id) do nothing`)

export const findKeyHandover = (tx: Tx, merchant_id: string, handover_id: string) =>
  tx.one<KeyHandover>(sql`
    select * from key_handovers where merchant_id = ${merchant_id} and handover_id = ${handover_id}`)

export const lockKeyHandover = (tx: Tx, merchant_id: string, handover_id: string) =>
  tx.one<KeyHandover>(sql`
    select * from key_handovers where merchant_id = ${merchant_id} and handover_id = ${handover_id} for update`)

export const newestKeyHandover = (tx: Tx, merchant_id: string) =>
  tx.one<KeyHandover>(sql`
    select * from key_handovers where merchant_id = ${merchant_id} order by created_at desc limit 1`)

// The keys are removed from the table at the same time.
export const saveHandoverOpened = (tx: Tx, merchant_id: string, handover_id: string, now: Date) =>
  tx.rows(sql`
    update key_handovers set sealed_keys = null, opened_at = ${now}
    where merchant_id = ${merchant_id} and handover_id = ${handover_id}`)

export const saveHandoversRevoked = (tx: Tx, merchant_id: string, now: Date) =>
  tx.count(sql`
    update key_handovers set sealed_keys = null, revoked_at = ${now}
    where merchant_id = ${merchant_id} and sealed_keys is not null`)

// Until the end of the transaction, no other one onboards a merchant. Readers do not wait.
export const lockOnboarding = (tx: Tx) => tx.rows(sql`lock table key_handovers in share row exclusive mode`)
