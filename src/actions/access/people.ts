import type { Actor, AuditEntry } from '../../core/access/audit.ts'
import type { OperatorRole } from '../../core/access/permissions.ts'
import type { PersonNotice } from '../../core/access/userMailTexts.ts'
import type { User } from '../../core/access/user.ts'
import {
  findListedUser,
  type ListedUser,
  listUsers,
  lockOperators,
  membershipsOfUsers,
} from '../../store/access/people.ts'
import { removePasskeysOfUser } from '../../store/access/passkeys.ts'
import { invitationsOf, removeLinksOfEmail } from '../../store/access/userLinks.ts'
import {
  lockUser,
  removeSessionsOfUser,
  saveOperatorRole,
  saveSecondFactor,
  saveUserActive,
} from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { audited } from './audit.ts'
import type { Change } from './invitations.ts'
import { mailPerson } from './mailPerson.ts'

const pageLength = 50

// The users in the order of their emails, with their merchants; `next` is the place of the next page.
export async function userPage(db: Db, search: string, behind: string) {
  const found = await listUsers(db, search.trim().toLowerCase(), behind, pageLength + 1)
  const users = found.slice(0, pageLength)
  const memberships = await membershipsOfUsers(
    db,
    users.map(({ user_id }) => user_id),
  )
  const next = found.length > pageLength ? users.at(-1)?.email : undefined
  return { users, memberships, next }
}

export const listedUser = (db: Db, user_id: string) => findListedUser(db, user_id)

export const operatorInvitations = (db: Db, now: Date) => invitationsOf(db, { merchant_id: null }, now)

// Identifies the state that a form showed, so that of two forms one changes it.
export const userMark = (user: Pick<ListedUser, 'operator_role' | 'active' | 'has_second_factor'>) =>
  `${user.operator_role ?? 'none'}:${user.active ? 'active' : 'inactive'}:${user.has_second_factor ? 'factor' : 'none'}`

export type UserChange = 'done' | 'changed' | 'last_admin' | 'self'
type UserKey = { user_id: string; mark?: string } // a command has no mark

const noFactor = { sealed_totp: null, totp_step: null, recovery_digests: [] }

export const changeOperatorRole = (db: Db, key: UserKey, role: OperatorRole | null, change: Change) =>
  changeUser(db, key, change, async (tx, user) => {
    if (role !== 'admin' && (await isLastAdmin(tx, user))) return 'last_admin'
    await saveOperatorRole(tx, user.user_id, role)
    return {
      ...entryOf(user, 'user.role'),
      before: { operator_role: user.operator_role },
      after: { operator_role: role },
      notice: 'role',
    }
  })

// A deactivated user cannot sign in, and keeps the roles. Open links end.
export const setUserActive = (db: Db, key: UserKey, active: boolean, change: Change) =>
  changeUser(db, key, change, async (tx, user) => {
    if (user.active === active) return 'changed'
    if (!active && isSelf(user, change.actor)) return 'self'
    if (!active && (await isLastAdmin(tx, user))) return 'last_admin'
    await saveUserActive(tx, user.user_id, active)
    if (!active) await removeLinksOfEmail(tx, user.email)
    return {
      ...entryOf(user, active ? 'user.activate' : 'user.deactivate'),
      before: { active: user.active },
      after: { active },
      notice: active ? 'activated' : 'deactivated',
    }
  })

// For a person who has lost phone and recovery codes. Passkeys go too, because they may be on that phone. Links for a new
// password end: they were made while the second factor protected the account.
export const resetSecondFactor = (db: Db, key: UserKey, change: Change) =>
  changeUser(db, key, change, async (tx, user) => {
    if (isSelf(user, change.actor)) return 'self'
    const passkeys = await removePasskeysOfUser(tx, user.user_id)
    if (user.sealed_totp === null && passkeys === 0) return 'changed' // a form that is submitted twice
    await saveSecondFactor(tx, user.user_id, noFactor)
    await removeLinksOfEmail(tx, user.email, 'reset')
    return {
      ...entryOf(user, 'user.second_factor_reset'),
      before: null,
      after: null,
      notice: 'second_factor_off',
    }
  })

const isSelf = ({ user_id }: User, actor: Actor) => actor.kind === 'user' && actor.id === user_id
const entryOf = ({ user_id }: User, action: string) => ({ merchant_id: null, action, subject: user_id })

async function isLastAdmin(tx: Tx, { user_id, operator_role, active }: User) {
  if (operator_role !== 'admin' || !active) return false
  const operators = await lockOperators(tx)
  return !operators.some(
    other => other.operator_role === 'admin' && other.active && other.user_id !== user_id,
  )
}

type Work = (
  tx: Tx,
  user: User,
) => Promise<(AuditEntry & { notice: PersonNotice }) | Exclude<UserChange, 'done'>>

// The person's sessions end, because they have the former rights.
const changeUser = (
  db: Db,
  { user_id, mark }: UserKey,
  { actor, by, now }: Change,
  work: Work,
): Promise<UserChange> =>
  audited(db, actor, now, async (tx, record) => {
    await lockOperators(tx) // first, in the same order everywhere
    const user = await lockUser(tx, user_id)
    if (
      !user ||
      (mark !== undefined && userMark({ ...user, has_second_factor: user.sealed_totp !== null }) !== mark)
    )
      return 'changed'
    const result = await work(tx, user)
    if (typeof result === 'string') return result
    const { notice, ...entry } = result
    await removeSessionsOfUser(tx, user_id)
    await record(entry)
    await mailPerson(tx, user, notice, { by }, now)
    return 'done'
  })
