import type { LinkPurpose, UserLink } from '../../core/access/userLink.ts'
import { sql, type Tx } from '../db.ts'

const maxListed = 200
const cleanedAtOnce = 500

export const addUserLink = (tx: Tx, l: UserLink) =>
  tx.rows(sql`
    insert into user_links (link_id, purpose, user_id, email, operator_role, merchant_id, role, outlets, invited_by,
      created_at, expires_at)
    values (${l.link_id}, ${l.purpose}, ${l.user_id}, ${l.email}, ${l.operator_role}, ${l.merchant_id}, ${l.role},
      ${l.outlets}, ${l.invited_by}, ${l.created_at}, ${l.expires_at})
    on conflict (link_id) do nothing`)

export const findUserLink = (tx: Tx, link_id: string, now: Date) =>
  tx.one<UserLink>(sql`select * from user_links where link_id = ${link_id} and expires_at > ${now}`)

// One statement, so that of two requests with one link one succeeds.
export const takeUserLink = async (tx: Tx, link_id: string, now: Date): Promise<boolean> =>
  (await tx.count(sql`delete from user_links where link_id = ${link_id} and expires_at > ${now}`)) > 0

// The links for new passwords that an address got since a time.
export const countResetLinks = async (tx: Tx, email: string, since: Date): Promise<number> =>
  (
    await tx.rows(sql`
      select link_id from user_links
      where email = ${email} and purpose = 'reset' and created_at > ${since} limit 10`)
  ).length

export const removeLinksOfEmail = (tx: Tx, email: string, purpose: LinkPurpose | null = null) =>
  tx.count(sql`
    delete from user_links where email = ${email} and (${purpose}::text is null or purpose = ${purpose}::text)`)

type InvitationPlace = Pick<UserLink, 'merchant_id'> // null: the operator's part

// The open invitations of a merchant, or those to the operator's part.
export const invitationsOf = (tx: Tx, { merchant_id }: InvitationPlace, now: Date) =>
  tx.rows<UserLink>(sql`
    select * from user_links
    where ${merchant_id === null ? sql`merchant_id is null` : sql`merchant_id = ${merchant_id}`}
      and purpose = 'invitation' and expires_at > ${now}
    order by created_at desc, link_id limit ${maxListed}`)

export const removeInvitation = (tx: Tx, { merchant_id }: InvitationPlace, link_id: string) =>
  tx.one<UserLink>(sql`
    delete from user_links
    where link_id = ${link_id} and purpose = 'invitation'
      and ${merchant_id === null ? sql`merchant_id is null` : sql`merchant_id = ${merchant_id}`}
    returning *`)

// A new invitation replaces the earlier ones of the same person.
export const removeInvitationsTo = (tx: Tx, { merchant_id }: InvitationPlace, email: string) =>
  tx.count(sql`
    delete from user_links
    where email = ${email} and purpose = 'invitation'
      and ${merchant_id === null ? sql`merchant_id is null` : sql`merchant_id = ${merchant_id}`}`)

export const removeExpiredLinks = (tx: Tx, before: Date) =>
  tx.count(sql`
    delete from user_links where link_id in (
      select link_id from user_links where expires_at < ${before} order by expires_at limit ${cleanedAtOnce})`)
