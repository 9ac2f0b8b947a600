import { userLinkAddress } from '../../core/access/userLink.ts'
import { userMail } from '../../core/access/userMail.ts'
import { nextMessageTry } from '../../core/message/messageTries.ts'
import type { Messenger, SendResult } from '../../core/message/messenger.ts'
import type { Mail } from '../../core/message/texts/mailLayout.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { findUserLink, removeExpiredLinks } from '../../store/access/userLinks.ts'
import {
  dueUserMails,
  postponeUserMail,
  recentUserMails,
  removeUserMail,
  takeUserMail,
  type UserMail,
} from '../../store/access/userMails.ts'
import type { Tx } from '../../store/db.ts'

const takenAtOnce = 10
const leaseMs = 5 * 60_000 // longer than the deadline of a messenger
const linksKeptMs = 24 * 3_600_000 // after their end: they count towards the limits
const shownAtOnce = 20

type MailSource = Pick<Runtime, 'db' | 'formKey' | 'dashboardUrl'>

// Sends the mails that are due. Without a messenger they wait, and are removed when the window of a message has passed.
// Returns how many were found.
export async function sendUserMails(
  source: MailSource,
  messenger: Pick<Messenger, 'send'> | undefined,
  now: Date,
  random: number,
): Promise<number> {
  const { db } = source
  const due = await dueUserMails(db, now, takenAtOnce)
  for (const mail of due) await sendOne(source, messenger, mail, now, random)
  return due.length
}

export const cleanUserLinks = (db: MailSource['db'], now: Date) =>
  removeExpiredLinks(db, new Date(now.getTime() - linksKeptMs))

async function sendOne(
  source: MailSource,
  messenger: Pick<Messenger, 'send'> | undefined,
  mail: UserMail,
  now: Date,
  random: number,
) {
  const { db } = source
  const { mail_id, email: to } = mail
  if (!(await takeUserMail(db, mail, new Date(now.getTime() + leaseMs)))) return
  const composed = await composeUserMail(source, mail, now)
  if (!composed) {
    await removeUserMail(db, mail_id)
    return
  }
  const result: SendResult = messenger
    ? await messenger.send({ id: mail_id, to, ...composed })
    : { state: 'retry', reason: '' }
  const next =
    result.state === 'retry'
      ? nextMessageTry({ ...mail, tries: mail.tries + 1 }, now, random, result.afterMs)
      : undefined
  await (next ? postponeUserMail(db, mail_id, next) : removeUserMail(db, mail_id))
}

// Undefined if the link of the mail was used, revoked or has expired.
async function composeUserMail(
  { db, formKey, dashboardUrl }: Omit<MailSource, 'db'> & { db: Tx },
  { kind, lang, details }: UserMail,
  now: Date,
): Promise<Mail | undefined> {
  const base = { kind, lang, details, baseUrl: dashboardUrl() }
  if (kind !== 'invitation' && kind !== 'reset') return userMail(base)
  const link = await findUserLink(db, details.link_id ?? '', now)
  return link && userMail({ ...base, link: userLinkAddress(formKey, base.baseUrl, link) })
}

export type ShownUserMail = Mail & Pick<UserMail, 'mail_id' | 'email' | 'lang' | 'created_at'>

// The mails that wait, as their recipients would see them: for the inbox of an installation that sends none.
export async function waitingUserMails(source: MailSource, now: Date): Promise<ShownUserMail[]> {
  const shown: ShownUserMail[] = []
  for (const row of await recentUserMails(source.db, shownAtOnce)) {
    const { mail_id, email, lang, created_at } = row
    const mail = await composeUserMail(source, row, now)
    if (mail) shown.push({ ...mail, mail_id, email, lang, created_at })
  }
  return shown
}
