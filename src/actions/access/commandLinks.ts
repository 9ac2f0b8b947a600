import { linkEnd, userLinkAddress } from '../../core/access/userLink.ts'
import { type User, userEmail } from '../../core/access/user.ts'
import { newUserLinkId } from '../../runtime/ids.ts'
import { lockOperators, removePassword } from '../../store/access/people.ts'
import { removePasskeysOfUser } from '../../store/access/passkeys.ts'
import { addUserLink, removeLinksOfEmail } from '../../store/access/userLinks.ts'
import {
  findUserByEmail,
  lockUser,
  removeSessionsOfUser,
  saveSecondFactor,
} from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { audited } from './audit.ts'
import type { Change } from './invitations.ts'
import { mailPerson } from './mailPerson.ts'
import { resetLink } from './resetPassword.ts'

// Links that a command prints. A command needs the master key and the database.
export type CommandLink = { user: User; link: string; expires_at: Date }
type LinkDeps = { db: Db; formKey: Buffer; baseUrl: string }

export const userOfEmail = (db: Db, email: string) => findUserByEmail(db, userEmail(email))

// A link for a new password. The second factor stays.
export const makeResetLink = (deps: LinkDeps, user: User, change: Change) =>
  makeLink(deps, user, change, { action: 'user.reset_link', expires_at: linkEnd.reset(change.now) })

// For a person who is locked out: password, second factor and passkeys are removed, sessions and links end, and the link
// is the only way in. An operator sets up a new second factor at the next sign-in.
export const rescueUser = (deps: LinkDeps, user: User, change: Change) =>
  makeLink(
    deps,
    user,
    change,
    { action: 'user.rescue', expires_at: linkEnd.rescue(change.now) },
    async tx => {
      await removePassword(tx, user.user_id)
      await saveSecondFactor(tx, user.user_id, { sealed_totp: null, totp_step: null, recovery_digests: [] })
      await removePasskeysOfUser(tx, user.user_id)
      await removeSessionsOfUser(tx, user.user_id)
      await removeLinksOfEmail(tx, user.email, 'reset')
      await mailPerson(tx, user, 'second_factor_off', { by: change.by }, change.now)
    },
  )

async function makeLink(
  { db, formKey, baseUrl }: LinkDeps,
  { user_id, email }: User,
  { actor, now }: Change,
  { action, expires_at }: { action: string; expires_at: Date },
  before: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<CommandLink | undefined> {
  const link_id = newUserLinkId()
  return audited(db, actor, now, async (tx, record) => {
    await lockOperators(tx)
    const user = await lockUser(tx, user_id)
    if (!user?.active || user.is_demo) return undefined
    await before(tx)
    const row = resetLink({ link_id, user_id, email, invited_by: null }, expires_at, now)
    await addUserLink(tx, row)
    await record({ merchant_id: null, action, subject: user_id, before: null, after: null })
    return { user, link: userLinkAddress(formKey, baseUrl, row), expires_at }
  })
}
