import { addressesIn } from '../../core/installation/databaseAddress.ts'
import type { DatabaseIdentity } from '../../core/installation/installationState.ts'
import { sqlState } from '../databaseErrors.ts'
import { type Db, named, sql, type Tx } from '../db.ts'

const installationLock = 0x746f6c6d // an advisory lock; core/nodes.ts has others with two keys

type StoredIdentity = Pick<DatabaseIdentity, 'stored' | 'addresses'>
type StoredRow = NonNullable<DatabaseIdentity['stored']> & { is_stored: boolean; addresses: string[] }

export async function readStoredIdentity(tx: Tx): Promise<StoredIdentity> {
  const row = await tx.one<StoredRow>(named('stored_identity')`
    select i.only_row is not null as is_stored, i.state, i.reason, i.moved_to, i.system_identifier,
      array(select address from installation_addresses) as addresses
    from (select) as always left join installation i on true`)
  if (!row) throw new Error('the database returned no row about itself')
  const { is_stored, addresses, ...stored } = row
  return { ...(is_stored && { stored }), addresses }
}

// Of the database server; every copy of its files has the same. Null if this role may not read it. Not inside of a
// transaction, which would fail then.
export async function readSystemIdentifier(db: Db): Promise<string | null> {
  try {
    const row = await db.one<{ id: string }>(
      sql`select system_identifier::text as id from pg_control_system()`,
    )
    return row?.id ?? null
  } catch (error) {
    if (['42501', '42883'].includes(sqlState(error))) return null // not for this role, or the server has no such function
    throw error
  }
}

// Nodes that start at once decide one after the other. The lock ends with the transaction.
export const lockIdentity = (tx: Tx) => tx.rows(sql`select pg_advisory_xact_lock(${installationLock})`)

type Route = { address: string; system_identifier: string | null; now: Date }

// A null identifier does not replace a known one: a role that may not read it uses the same database as others.
export async function recordRoute(tx: Tx, { address, system_identifier, now }: Route) {
  await tx.rows(sql`
    insert into installation (system_identifier, state, since) values (${system_identifier}, 'original', ${now})
    on conflict (only_row) do update
      set system_identifier = coalesce(excluded.system_identifier, installation.system_identifier)`)
  await recordAddresses(tx, addressesIn(address), now)
}

export const hasLivePayments = async (tx: Tx) =>
  (await tx.one(sql`select from payments where mode = 'live' limit 1`)) !== undefined

// A database that was restored from a backup: its nodes do not act until `tollgate adopt` declares it the real one. They
// notice within seconds. It uses only columns of the first migration of the table, because a restored database may have an
// older schema for a moment.
export const markDatabaseAsCopy = (tx: Tx, { reason, now }: { reason: string; now: Date }) =>
  saveState(tx, { state: 'copy', reason, moved_to: '', now })

// A database whose payments have moved to another one: nothing is stored in it any more. `movedTo` is the address of the
// other database, without user and password (databaseAddress); requests and commands are refused with it.
export const markDatabaseAsMoved = (tx: Tx, { movedTo, now }: { movedTo: string; now: Date }) =>
  saveState(tx, { state: 'moved', reason: '', moved_to: movedTo, now })

type NewState = { state: 'copy' | 'moved'; reason: string; moved_to: string; now: Date }

const saveState = (tx: Tx, { state, reason, moved_to, now }: NewState) =>
  tx.rows(sql`
    insert into installation (state, reason, moved_to, since) values (${state}, ${reason}, ${moved_to}, ${now})
    on conflict (only_row) do update
      set state = excluded.state, reason = excluded.reason, moved_to = excluded.moved_to, since = excluded.since`)

// Makes this database the original at these addresses, and forgets all others. `system_identifier` is null if the server
// does not tell it.
export async function adoptDatabase(tx: Tx, { address, system_identifier, now }: Route) {
  const addresses = addressesIn(address)
  await tx.rows(sql`
    insert into installation (system_identifier, state, since) values (${system_identifier}, 'original', ${now})
    on conflict (only_row) do update
      set system_identifier = excluded.system_identifier, state = 'original', reason = '', moved_to = '',
        since = excluded.since`)
  await tx.rows(sql`delete from installation_addresses where address <> all(${addresses}::text[])`)
  await recordAddresses(tx, addresses, now)
}

const recordAddresses = (tx: Tx, addresses: readonly string[], now: Date) =>
  tx.rows(sql`
    insert into installation_addresses (address, recorded_at)
    select address, ${now}::timestamptz from unnest(${addresses}::text[]) as address
    on conflict (address) do nothing`)
