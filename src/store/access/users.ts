import type { Membership, User, UserSession } from '../../core/access/user.ts'
import { sql, type Tx } from '../db.ts'

// `on conflict do nothing`: a transaction that lost its commit runs again and finds its own row.
export const addUser = (tx: Tx, u: User) =>
  tx.rows(sql`
    insert into users (user_id, email, name, lang, password_hash, operator_role, sealed_totp, totp_step, active,
      created_at, signed_in_at)
    values (${u.user_id}, ${u.email}, ${u.name}, ${u.lang}, ${u.password_hash}, ${u.operator_role}, ${u.sealed_totp},
      ${u.totp_step}, ${u.active}, ${u.created_at}, ${u.signed_in_at})
    on conflict (user_id) do nothing`)

export const findUser = (tx: Tx, user_id: string) =>
  tx.one<User>(sql`select * from users where user_id = ${user_id}`)

export const findUserByEmail = (tx: Tx, email: string) =>
  tx.one<User>(sql`select * from users where email = ${email}`)

export const lockUser = (tx: Tx, user_id: string) =>
  tx.one<User>(sql`select * from users where user_id = ${user_id} for update`)

export const hasUsers = async (tx: Tx): Promise<boolean> =>
  (await tx.one(sql`select 1 from users limit 1`)) !== undefined

export const saveMembership = (tx: Tx, m: Membership) =>
  tx.rows(sql`
    insert into memberships (merchant_id, user_id, role, outlets, created_at)
    values (${m.merchant_id}, ${m.user_id}, ${m.role}, ${m.outlets}, ${m.created_at})
    on conflict (merchant_id, user_id) do update set role = excluded.role, outlets = excluded.outlets`)

export const membershipsOf = (tx: Tx, user_id: string) =>
  tx.rows<Membership & { merchant_name: string }>(sql`
    select s.*, m.name as merchant_name from memberships s join merchants m using (merchant_id)
    where s.user_id = ${user_id} order by m.name, m.merchant_id`)

export const addSession = (tx: Tx, s: UserSession) =>
  tx.rows(sql`
    insert into user_sessions (session_digest, user_id, created_at, seen_at, ends_at, confirmed_at, address, agent)
    values (${s.session_digest}, ${s.user_id}, ${s.created_at}, ${s.seen_at}, ${s.ends_at}, ${s.confirmed_at},
      ${s.address}, ${s.agent})
    on conflict (session_digest) do nothing`)

export const findSession = (tx: Tx, session_digest: string) =>
  tx.one<UserSession>(sql`select * from user_sessions where session_digest = ${session_digest}`)

export const saveSeen = (tx: Tx, session_digest: string, now: Date) =>
  tx.rows(sql`update user_sessions set seen_at = ${now} where session_digest = ${session_digest}`)

export const saveConfirmed = (tx: Tx, session_digest: string, now: Date) =>
  tx.rows(sql`update user_sessions set confirmed_at = ${now} where session_digest = ${session_digest}`)

export const removeSession = (tx: Tx, session_digest: string) =>
  tx.count(sql`delete from user_sessions where session_digest = ${session_digest}`)
