import type { Membership, User } from '../../core/access/user.ts'
import { sql, type Tx } from '../db.ts'

export type ListedUser = Pick<
  User,
  | 'user_id'
  | 'email'
  | 'name'
  | 'lang'
  | 'operator_role'
  | 'active'
  | 'is_demo'
  | 'created_at'
  | 'signed_in_at'
> & { has_second_factor: boolean }

const columns = sql`user_id, email, name, lang, operator_role, active, is_demo, created_at, signed_in_at,
  sealed_totp is not null as has_second_factor`

// In the order of their emails, behind one; `prefix` is the beginning of the email.
export const listUsers = (tx: Tx, prefix: string, behind: string, limit: number) =>
  tx.rows<ListedUser>(sql`
    select ${columns} from users
    where email > ${behind} ${prefix === '' ? sql`` : sql`and email like ${`${literal(prefix)}%`}`}
    order by email limit ${limit}`)

export const findListedUser = (tx: Tx, user_id: string) =>
  tx.one<ListedUser>(sql`select ${columns} from users where user_id = ${user_id}`)

const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&')

export const membershipsOfUsers = (tx: Tx, user_ids: readonly string[]) =>
  tx.rows<Membership & { merchant_name: string }>(sql`
    select s.*, m.name as merchant_name from memberships s join merchants m using (merchant_id)
    where s.user_id = any(${user_ids}) order by m.name, m.merchant_id`)

// Locked, so that two changes at once cannot remove the last two admins.
export const lockOperators = (tx: Tx) =>
  tx.rows<Pick<User, 'user_id' | 'operator_role' | 'active'>>(sql`
    select user_id, operator_role, active from users where operator_role is not null order by user_id for update`)

export const removePassword = (tx: Tx, user_id: string) =>
  tx.rows(sql`update users set password_hash = null where user_id = ${user_id}`)
