import type { PersonNotice } from '../../core/access/userMailTexts.ts'
import type { User } from '../../core/access/user.ts'
import { newUserMailId } from '../../runtime/ids.ts'
import { addUserMail } from '../../store/access/userMails.ts'
import type { Tx } from '../../store/db.ts'

// Queues a mail about a change of a person's account to that person, in the transaction of the change.
export const mailPerson = (
  tx: Tx,
  { email, lang, is_demo }: Pick<User, 'email' | 'lang'> & Partial<Pick<User, 'is_demo'>>,
  what: PersonNotice,
  { by = '', merchant = '' }: { by?: string; merchant?: string },
  now: Date,
) =>
  is_demo
    ? undefined
    : addUserMail(tx, {
        mail_id: newUserMailId(),
        email,
        lang,
        kind: 'notice',
        details: { what, by, merchant, at: now.toISOString() },
        created_at: now,
      })
