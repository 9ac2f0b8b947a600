import type { Membership, User, UserSession } from '../../core/access/user.ts'
import { sql, type Tx } from '../db.ts'

const maxListedSessions = 50
const maxOwners = 20 // who get a mail about a change

type NewUser = Omit<User, 'recovery_digests' | 'is_demo'> & Partial<Pick<User, 'is_demo'>>

// `on conflict do nothing`: a transaction that lost its commit runs again and finds its own row.
export const addUser = (tx: Tx, u: NewUser) =>
  tx.rows(sql`
    insert into users (user_id, email, name, lang, password_hash, operator_role, sealed_totp, totp_step, is_demo, active,
      created_at, signed_in_at)
    values (${u.user_id}, ${u.email}, ${u.name}, ${u.lang}, ${u.password_hash}, ${u.operator_role}, ${u.sealed_totp},
      ${u.totp_step}, ${u.is_demo ?? false}, ${u.active}, ${u.created_at}, ${u.signed_in_at})
    on conflict (user_id) do nothing`)

export const findUser = (tx: Tx, user_id: string) =>
  tx.one<User>(sql`select * from users where user_id = ${user_id}`)

export const findUserByEmail = (tx: Tx, email: string) =>
  tx.one<User>(sql`select * from users where email = ${email}`)

export const lockUser = (tx: Tx, user_id: string) =>
  tx.one<User>(sql`select * from users where user_id = ${user_id} for update`)

// A user of the demo is not a real one.
export const hasUsers = async (tx: Tx): Promise<boolean> =>
  (await tx.one(sql`select 1 from users where not is_demo limit 1`)) !== undefined

export const saveSignedIn = (tx: Tx, user_id: string, now: Date) =>
  tx.rows(sql`update users set signed_in_at = ${now} where user_id = ${user_id}`)

export const savePassword = (tx: Tx, user_id: string, password_hash: string) =>
  tx.rows(sql`update users set password_hash = ${password_hash} where user_id = ${user_id}`)

export const saveProfile = (tx: Tx, user_id: string, { name, lang }: Pick<User, 'name' | 'lang'>) =>
  tx.rows(sql`update users set name = ${name}, lang = ${lang} where user_id = ${user_id}`)

// Whether the step is newer than every accepted one. One statement, so that of two requests with one code one is accepted.
export const takeTotpStep = async (tx: Tx, user_id: string, step: bigint): Promise<boolean> =>
  (await tx.count(sql`
    update users set totp_step = ${step} where user_id = ${user_id} and (totp_step is null or totp_step < ${step})`)) >
  0

// One statement, so that of two requests with one code one is accepted.
export const takeRecoveryCode = async (tx: Tx, user_id: string, digest: string): Promise<boolean> =>
  (await tx.count(sql`
    update users set recovery_digests = array_remove(recovery_digests, ${digest})
    where user_id = ${user_id} and ${digest} = any(recovery_digests)`)) > 0

type SecondFactor = Pick<User, 'sealed_totp' | 'totp_step' | 'recovery_digests'>

export const saveSecondFactor = (tx: Tx, user_id: string, f: SecondFactor) =>
  tx.rows(sql`
    update users set sealed_totp = ${f.sealed_totp}, totp_step = ${f.totp_step}, recovery_digests = ${f.recovery_digests}
    where user_id = ${user_id}`)

export const saveRecoveryDigests = (tx: Tx, user_id: string, digests: readonly string[]) =>
  tx.rows(sql`update users set recovery_digests = ${digests} where user_id = ${user_id}`)

export const saveOperatorRole = (tx: Tx, user_id: string, role: User['operator_role']) =>
  tx.rows(sql`update users set operator_role = ${role} where user_id = ${user_id}`)

export const saveUserActive = (tx: Tx, user_id: string, active: boolean) =>
  tx.rows(sql`update users set active = ${active} where user_id = ${user_id}`)

export const saveMembership = (tx: Tx, m: Membership) =>
  tx.rows(sql`
    insert into memberships (merchant_id, user_id, role, outlets, created_at)
    values (${m.merchant_id}, ${m.user_id}, ${m.role}, ${m.outlets}, ${m.created_at})
    on conflict (merchant_id, user_id) do update set role = excluded.role, outlets = excluded.outlets`)

export const membershipsOf = (tx: Tx, user_id: string) =>
  tx.rows<Membership & { merchant_name: string }>(sql`
    select s.*, m.name as merchant_name from memberships s join merchants m using (merchant_id)
    where s.user_id = ${user_id} order by m.name, m.merchant_id`)

export const ownersOfMerchant = (tx: Tx, merchant_id: string) =>
  tx.rows<Pick<User, 'email' | 'lang'>>(sql`
    select u.email, u.lang from memberships s join users u using (user_id)
    where s.merchant_id = ${merchant_id} and s.role = 'owner' and u.active and not u.is_demo
    order by u.user_id limit ${maxOwners}`)

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

export const sessionsOfUser = (tx: Tx, user_id: string) =>
  tx.rows<UserSession>(sql`
    select * from user_sessions where user_id = ${user_id} order by seen_at desc limit ${maxListedSessions}`)

// All but one, or all.
export const removeSessionsOfUser = (tx: Tx, user_id: string, but: string | null = null) =>
  tx.count(sql`
    delete from user_sessions where user_id = ${user_id} and (${but}::text is null or session_digest <> ${but}::text)`)

export const removeEndedSessions = (tx: Tx, user_id: string, now: Date) =>
  tx.count(sql`delete from user_sessions where user_id = ${user_id} and ends_at <= ${now}`)

export const removeSession = (tx: Tx, session_digest: string) =>
  tx.count(sql`delete from user_sessions where session_digest = ${session_digest}`)
