import { type PasswordFault, passwordFault } from '../../core/access/password.ts'
import { accountKey } from '../../core/access/signInTokens.ts'
import { linkEnd, linkIdOf, resetsPerHour, type UserLink } from '../../core/access/userLink.ts'
import { type User, userEmail } from '../../core/access/user.ts'
import type { PasswordHasher } from '../../runtime/passwordHasher.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import { newUserLinkId, newUserMailId } from '../../runtime/ids.ts'
import {
  addUserLink,
  countResetLinks,
  findUserLink,
  removeLinksOfEmail,
  takeUserLink,
} from '../../store/access/userLinks.ts'
import { addUserMail } from '../../store/access/userMails.ts'
import {
  findUser,
  findUserByEmail,
  lockUser,
  removeSessionsOfUser,
  savePassword,
} from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { audited } from './audit.ts'
import { mailPerson } from './mailPerson.ts'

const hourMs = 3_600_000

type ResetDeps = { db: Db; limits: Pick<RateLimits, 'trySignIn'>; formKey: Buffer }
type ResetRequest = { email: string; lang: string; address: string }

// Queues a mail with a link for a new password, or one that says that there is no such account: the same statements for
// every address, so that neither the answer nor its time reveals an account.
export async function requestReset(
  { db, limits }: Pick<ResetDeps, 'db' | 'limits'>,
  typed: ResetRequest,
  now: Date,
): Promise<void> {
  const email = userEmail(typed.email)
  limits.trySignIn({ kind: 'reset', account: accountKey(email), address: typed.address })
  const [link_id, mail_id] = [newUserLinkId(), newUserMailId()]
  await db.transaction(async tx => {
    const sent = await countResetLinks(tx, email, new Date(now.getTime() - hourMs))
    const user = await findUserByEmail(tx, email)
    if (sent >= resetsPerHour) return
    const user_id = user && mayResetByMail(user) ? user.user_id : null
    await addUserLink(
      tx,
      resetLink({ link_id, user_id, email, invited_by: user_id ?? 'unknown' }, linkEnd.reset(now), now),
    )
    await addUserMail(tx, {
      mail_id,
      email,
      lang: user?.lang ?? typed.lang,
      kind: user_id ? 'reset' : 'no_account',
      details: { link_id },
      created_at: now,
    })
  })
}

// A mailbox is one factor. An operator without a second factor, and a user whose password was removed by `user rescue`,
// would be protected by nothing else.
const mayResetByMail = ({ active, is_demo, operator_role, sealed_totp, password_hash }: User) =>
  active && !is_demo && password_hash !== null && (operator_role === null || sealed_totp !== null)

export const resetLink = (
  link: Pick<UserLink, 'link_id' | 'user_id' | 'email' | 'invited_by'>,
  expires_at: Date,
  created_at: Date,
): UserLink => ({
  ...link,
  purpose: 'reset',
  operator_role: null,
  merchant_id: null,
  role: null,
  outlets: null,
  created_at,
  expires_at,
})

// The user of a link. Undefined if the link was used, has expired, was forged, or opens nothing any more.
export async function userOfReset(
  { db, formKey }: { db: Tx; formKey: Buffer },
  token: string,
  now: Date,
): Promise<{ user: User; link: UserLink } | undefined> {
  const link_id = linkIdOf(formKey, 'reset', token)
  const link = link_id === undefined ? undefined : await findUserLink(db, link_id, now)
  if (!link?.user_id || link.purpose !== 'reset') return undefined
  const user = await findUser(db, link.user_id)
  if (!user?.active) return undefined
  const isByCommand = link.invited_by === null
  return isByCommand || mayResetByMail(user) ? { user, link } : undefined
}

// Every session and every other link of the person ends. It signs nobody in: the second factor is asked for at the next
// sign-in.
export async function resetPassword(
  { db, formKey, hasher }: { db: Db; formKey: Buffer; hasher: PasswordHasher },
  token: string,
  password: string,
  address: string,
  now: Date,
): Promise<'done' | 'ended' | PasswordFault> {
  const found = await userOfReset({ db, formKey }, token, now)
  if (!found) return 'ended'
  const { user, link } = found
  const fault = passwordFault(password, [user.email, user.name])
  if (fault) return fault
  const hashed = await hasher.hash(password)
  const { user_id, email } = user
  return audited(db, { kind: 'user', id: user_id, address }, now, async (tx, record) => {
    const stored = await lockUser(tx, user_id)
    // The hash is there already if this transaction runs again after a lost commit.
    if (stored?.password_hash === hashed) return 'done'
    if (!stored?.active || !(await takeUserLink(tx, link.link_id, now))) return 'ended'
    await savePassword(tx, user_id, hashed)
    await removeSessionsOfUser(tx, user_id)
    await removeLinksOfEmail(tx, email, 'reset')
    await record({
      merchant_id: null,
      action: 'user.password_reset',
      subject: user_id,
      before: null,
      after: null,
    })
    await mailPerson(tx, user, 'password', {}, now)
    return 'done'
  })
}
