import type { Membership, User } from '../../core/access/user.ts'
import { sql, type Tx } from '../db.ts'

const maxListed = 200

// Until the end of the transaction no other changes the team. Payments do not wait for it.
export const lockTeam = (tx: Tx, merchant_id: string) =>
  tx.one(sql`select merchant_id from merchants where merchant_id = ${merchant_id} for no key update`)

export type TeamMember = Membership & Pick<User, 'name' | 'email' | 'active' | 'signed_in_at' | 'lang'>

export const listTeam = (tx: Tx, merchant_id: string) =>
  tx.rows<TeamMember>(sql`
    select s.*, u.name, u.email, u.active, u.signed_in_at, u.lang
    from memberships s join users u using (user_id)
    where s.merchant_id = ${merchant_id} order by s.created_at, s.user_id limit ${maxListed}`)

export const removeMembership = (tx: Tx, merchant_id: string, user_id: string) =>
  tx.count(sql`delete from memberships where merchant_id = ${merchant_id} and user_id = ${user_id}`)
