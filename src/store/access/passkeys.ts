import type { Passkey } from '../../core/access/passkey.ts'
import { sql, type Tx } from '../db.ts'

const cleanedAtOnce = 100

// Returns whether it is new. The id of an authenticator belongs to one user.
export const addPasskey = async (tx: Tx, p: Passkey): Promise<boolean> =>
  (await tx.count(sql`
    insert into passkeys (passkey_id, user_id, name, public_key, sign_count, created_at, used_at)
    values (${p.passkey_id}, ${p.user_id}, ${p.name}, ${p.public_key}, ${p.sign_count}, ${p.created_at}, ${p.used_at})
    on conflict (passkey_id) do nothing`)) > 0

export const findPasskey = (tx: Tx, passkey_id: string) =>
  tx.one<Passkey>(sql`select * from passkeys where passkey_id = ${passkey_id}`)

export const passkeysOf = (tx: Tx, user_id: string) =>
  tx.rows<Passkey>(sql`select * from passkeys where user_id = ${user_id} order by created_at, passkey_id`)

// One statement, so that a copy of a passkey and the passkey are not accepted at the same time. Authenticators without a
// counter always send 0.
export const usePasskey = async (
  tx: Tx,
  { passkey_id }: Pick<Passkey, 'passkey_id'>,
  count: bigint,
  now: Date,
): Promise<boolean> =>
  (await tx.count(sql`
    update passkeys set sign_count = ${count}, used_at = ${now}
    where passkey_id = ${passkey_id} and (sign_count < ${count} or (sign_count = 0 and ${count}::bigint = 0))`)) >
  0

export const removePasskey = async (tx: Tx, user_id: string, passkey_id: string): Promise<boolean> =>
  (await tx.count(sql`delete from passkeys where passkey_id = ${passkey_id} and user_id = ${user_id}`)) > 0

export const removePasskeysOfUser = (tx: Tx, user_id: string) =>
  tx.count(sql`delete from passkeys where user_id = ${user_id}`)

// Whether the challenge was not answered before.
export async function takeChallenge(tx: Tx, digest: string, expires_at: Date, now: Date): Promise<boolean> {
  await tx.count(sql`
    delete from used_challenges where challenge_digest in (
      select challenge_digest from used_challenges where expires_at < ${now} order by expires_at limit ${cleanedAtOnce})`)
  const added = sql`
    insert into used_challenges (challenge_digest, expires_at) values (${digest}, ${expires_at})
    on conflict (challenge_digest) do nothing`
  return (await tx.count(added)) > 0
}
