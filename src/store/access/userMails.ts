import type { UserMailKind } from '../../core/access/userMail.ts'
import { sql, type Tx } from '../db.ts'

// A mail to a user that waits to be sent. `details` holds the id of a link, never the link.
export type UserMail = {
  mail_id: string
  email: string
  lang: string
  kind: UserMailKind
  details: Readonly<Record<string, string>>
  due_at: Date
  tries: number
  created_at: Date
}

export const addUserMail = (tx: Tx, m: Omit<UserMail, 'tries' | 'due_at'>) =>
  tx.rows(sql`
    insert into user_mails (mail_id, email, lang, kind, details, due_at, created_at)
    values (${m.mail_id}, ${m.email}, ${m.lang}, ${m.kind}, ${m.details}, ${m.created_at}, ${m.created_at})
    on conflict (mail_id) do nothing`)

export const dueUserMails = (tx: Tx, now: Date, limit: number) =>
  tx.rows<UserMail>(sql`select * from user_mails where due_at <= ${now} order by due_at limit ${limit}`)

// One statement, so that of several nodes one sends the mail. It is due again later, if this node dies before it has sent it.
export const takeUserMail = async (tx: Tx, { mail_id, due_at }: UserMail, again: Date): Promise<boolean> =>
  (await tx.count(sql`
    update user_mails set due_at = ${again}, tries = tries + 1
    where mail_id = ${mail_id} and due_at = ${due_at}`)) > 0

export const postponeUserMail = (tx: Tx, mail_id: string, due_at: Date) =>
  tx.count(sql`update user_mails set due_at = ${due_at} where mail_id = ${mail_id}`)

export const removeUserMail = (tx: Tx, mail_id: string) =>
  tx.count(sql`delete from user_mails where mail_id = ${mail_id}`)

// For the inbox of an installation without a messenger for email.
export const recentUserMails = (tx: Tx, limit: number) =>
  tx.rows<UserMail>(sql`select * from user_mails order by created_at desc limit ${limit}`)
