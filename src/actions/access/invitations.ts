import type { Actor } from '../../core/access/audit.ts'
import { type PasswordFault, passwordFault } from '../../core/access/password.ts'
import type { MerchantRole, OperatorRole } from '../../core/access/permissions.ts'
import { linkEnd, linkIdOf, maxOpenInvitations, type UserLink } from '../../core/access/userLink.ts'
import { type Membership, type User, userEmail } from '../../core/access/user.ts'
import type { Lang } from '../../core/languages/languages.ts'
import type { PasswordHasher } from '../../runtime/passwordHasher.ts'
import { newUserId, newUserLinkId, newUserMailId } from '../../runtime/ids.ts'
import { hasEntryAbout } from '../../store/access/audit.ts'
import { lockOperators } from '../../store/access/people.ts'
import { listTeam, lockTeam } from '../../store/access/team.ts'
import {
  addUserLink,
  findUserLink,
  invitationsOf,
  removeInvitation,
  removeInvitationsTo,
  takeUserLink,
} from '../../store/access/userLinks.ts'
import { addUserMail } from '../../store/access/userMails.ts'
import {
  addUser,
  findUser,
  findUserByEmail,
  lockUser,
  removeSessionsOfUser,
  saveMembership,
  saveOperatorRole,
} from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findMerchant, listOutlets } from '../../store/merchants/merchants.ts'
import { audited } from './audit.ts'
import { mailOwners } from './mailOwners.ts'

// What an invited person will be. A cashier may be bound to outlets; null: all of them.
export type Grant =
  | { merchant_id: string; role: MerchantRole; outlets: readonly string[] | null }
  | { merchant_id: null; operator_role: OperatorRole }

export type Change = { actor: Actor; by: string; now: Date } // by: the name, for the mails

export type InviteFault = 'member' | 'inactive' | 'full' | 'outlets'

// `link_id`: of the form, made when it was shown.
type Invited = { email: string; lang: string; link_id?: string }

// Queues the mail. A new invitation of the same person replaces the earlier one; the same form again changes nothing.
export async function invite(
  db: Db,
  { email: typed, lang, link_id = newUserLinkId() }: Invited,
  grant: Grant,
  { actor, by, now }: Change,
): Promise<{ link: UserLink } | InviteFault> {
  const email = userEmail(typed)
  const mail_id = newUserMailId()
  const { merchant_id } = grant
  return audited(db, actor, now, async (tx, record) => {
    const merchant = merchant_id === null ? undefined : await findMerchant(tx, merchant_id)
    const user = await findUserByEmail(tx, email)
    const fault = await inviteFault(tx, grant, user, email, now)
    if (fault) return fault
    const link = invitationLink(
      { link_id, email, invited_by: actor.kind === 'user' ? actor.id : null },
      grant,
      now,
    )
    if (await hasEntryAbout(tx, link_id, 'user.invite')) return { link } // also if it was used or revoked since
    await removeInvitationsTo(tx, grant, email)
    await addUserLink(tx, link)
    await addUserMail(tx, {
      mail_id,
      email,
      lang: user?.lang ?? lang,
      kind: 'invitation',
      details: { link_id, by, merchant: merchant?.name ?? '' },
      created_at: now,
    })
    await record({
      merchant_id,
      action: 'user.invite',
      subject: link_id,
      before: null,
      after: grantValues(grant),
    })
    if (merchant_id !== null) await mailOwners(tx, merchant_id, { change: 'team', by }, now)
    return { link }
  })
}

async function inviteFault(
  tx: Tx,
  grant: Grant,
  user: User | undefined,
  email: string,
  now: Date,
): Promise<InviteFault | undefined> {
  if (user && !user.active) return 'inactive'
  if (grant.merchant_id === null) {
    await lockOperators(tx)
    if (user?.operator_role) return 'member'
  } else {
    await lockTeam(tx, grant.merchant_id)
    const team = await listTeam(tx, grant.merchant_id)
    if (team.some(member => member.email === email)) return 'member'
    if (!(await areOutletsOf(tx, grant.merchant_id, grant.outlets))) return 'outlets'
  }
  const open = await invitationsOf(tx, grant, now)
  return open.filter(one => one.email !== email).length >= maxOpenInvitations ? 'full' : undefined
}

export async function areOutletsOf(tx: Tx, merchant_id: string, outlets: readonly string[] | null) {
  if (outlets === null) return true
  const known = (await listOutlets(tx, merchant_id)).map(({ code }) => code)
  return outlets.length > 0 && outlets.every(code => known.includes(code))
}

const grantValues = (grant: Grant) =>
  grant.merchant_id === null
    ? { operator_role: grant.operator_role }
    : { role: grant.role, outlets: grant.outlets }

const invitationLink = (
  link: Pick<UserLink, 'link_id' | 'email' | 'invited_by'>,
  grant: Grant,
  now: Date,
): UserLink => ({
  ...link,
  purpose: 'invitation',
  user_id: null,
  operator_role: null,
  role: null,
  outlets: null,
  ...grant,
  created_at: now,
  expires_at: linkEnd.invitation(now),
})

// Returns whether it was still open.
export const revokeInvitation = (
  db: Db,
  place: Pick<UserLink, 'merchant_id'>,
  link_id: string,
  { actor, by, now }: Change,
): Promise<boolean> =>
  audited(db, actor, now, async (tx, record) => {
    const link = await removeInvitation(tx, place, link_id)
    if (!link) return false
    const { merchant_id } = place
    await record({ merchant_id, action: 'user.invite_revoke', subject: link_id, before: null, after: null })
    if (merchant_id !== null) await mailOwners(tx, merchant_id, { change: 'team', by }, now)
    return true
  })

export type OpenInvitation = { link: UserLink; merchant_name?: string; user?: User }

// Undefined if the link was used, revoked, has expired or was forged.
export async function openInvitation(
  { db, formKey }: { db: Tx; formKey: Buffer },
  token: string,
  now: Date,
): Promise<OpenInvitation | undefined> {
  const link_id = linkIdOf(formKey, 'invitation', token)
  const link = link_id === undefined ? undefined : await findUserLink(db, link_id, now)
  if (link?.purpose !== 'invitation') return undefined
  const merchant = link.merchant_id === null ? undefined : await findMerchant(db, link.merchant_id)
  const user = await findUserByEmail(db, link.email)
  if ((link.merchant_id !== null && !merchant) || user?.active === false) return undefined
  return { link, merchant_name: merchant?.name, user }
}

type AcceptDeps = { db: Db; formKey: Buffer; hasher: PasswordHasher }
type NewPerson = { name: string; lang: Lang; password: string }
type Accepted = { user: User; isNew: boolean }

// Makes the account of a new person. A person who has one gets the role, and signs in as always.
export async function acceptInvitation(
  { db, formKey, hasher }: AcceptDeps,
  token: string,
  { name, lang, password }: NewPerson,
  address: string,
  now: Date,
): Promise<Accepted | 'ended' | PasswordFault> {
  const found = await openInvitation({ db, formKey }, token, now)
  if (!found) return 'ended'
  const { link, user } = found
  const fault = user ? undefined : passwordFault(password, [link.email, name])
  if (fault) return fault
  const password_hash = user ? null : await hasher.hash(password)
  const user_id = user?.user_id ?? newUserId()
  const actor: Actor = { kind: 'user', id: user_id, address }
  return audited(db, actor, now, async (tx, record) => {
    // Found if this transaction runs again after a lost commit.
    const made = user ? await lockUser(tx, user_id) : await findUser(tx, user_id)
    if (!user && made) return { user: made, isNew: true }
    if (!(await takeUserLink(tx, link.link_id, now))) return 'ended'
    if (user && !made?.active) return 'ended'
    if (!user)
      await addUser(tx, {
        user_id,
        email: link.email,
        name,
        lang,
        password_hash,
        operator_role: null,
        sealed_totp: null,
        totp_step: null,
        active: true,
        created_at: now,
        signed_in_at: null,
      })
    await grantRole(tx, user_id, link, now)
    await removeSessionsOfUser(tx, user_id)
    await record({
      merchant_id: link.merchant_id,
      action: 'user.invite_accept',
      subject: user_id,
      before: null,
      after: { operator_role: link.operator_role, role: link.role, outlets: link.outlets },
    })
    const stored = await findUser(tx, user_id)
    return stored ? { user: stored, isNew: !user } : 'ended'
  })
}

async function grantRole(tx: Tx, user_id: string, link: UserLink, now: Date) {
  const { merchant_id, role, outlets, operator_role } = link
  if (operator_role) await saveOperatorRole(tx, user_id, operator_role)
  if (merchant_id === null || role === null) return
  const member: Membership = { merchant_id, user_id, role, outlets, created_at: now }
  await saveMembership(tx, member)
}
