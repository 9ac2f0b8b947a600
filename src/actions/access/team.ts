import type { AuditEntry } from '../../core/access/audit.ts'
import type { MerchantRole } from '../../core/access/permissions.ts'
import { listTeam, lockTeam, removeMembership, type TeamMember } from '../../store/access/team.ts'
import { invitationsOf } from '../../store/access/userLinks.ts'
import { removeSessionsOfUser, saveMembership } from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findMerchant, listOutlets } from '../../store/merchants/merchants.ts'
import { audited } from './audit.ts'
import { areOutletsOf, type Change } from './invitations.ts'
import { mailPerson } from './mailPerson.ts'
import { mailOwners } from './mailOwners.ts'

// The members of a merchant's team with their roles, the open invitations, and the outlets for cashiers.
export async function teamOf(db: Db, merchant_id: string, now: Date) {
  const [members, invitations, outlets] = await Promise.all([
    listTeam(db, merchant_id),
    invitationsOf(db, { merchant_id }, now),
    listOutlets(db, merchant_id),
  ])
  return { members, invitations, outlets }
}

// Identifies the role that a form showed, so that of two forms one changes it.
export const memberMark = ({ role, outlets }: Pick<TeamMember, 'role' | 'outlets'>) =>
  `${role}:${outlets?.join(',') ?? '*'}`

export type MemberChange = 'done' | 'changed' | 'last_owner' | 'outlets'
type MemberKey = { merchant_id: string; user_id: string; mark: string }

// The person's sessions end, because they have the former rights.
export const changeMember = (
  db: Db,
  key: MemberKey,
  { role, outlets }: { role: MerchantRole; outlets: readonly string[] | null },
  change: Change,
): Promise<MemberChange> =>
  changeTeam(db, key, change, async (tx, member) => {
    if (member.role === 'owner' && role !== 'owner' && (await isLastOwner(tx, member))) return 'last_owner'
    if (!(await areOutletsOf(tx, key.merchant_id, outlets))) return 'outlets'
    await saveMembership(tx, { ...keyOf(member), role, outlets, created_at: member.created_at })
    await mailPerson(tx, member, 'role', await namesOf(tx, key.merchant_id, change), change.now)
    return {
      ...entryOf(member, 'team.change'),
      before: { role: member.role, outlets: member.outlets },
      after: { role, outlets },
    }
  })

export const removeMember = (db: Db, key: MemberKey, change: Change): Promise<MemberChange> =>
  changeTeam(db, key, change, async (tx, member) => {
    if (member.role === 'owner' && (await isLastOwner(tx, member))) return 'last_owner'
    await removeMembership(tx, key.merchant_id, member.user_id)
    await mailPerson(tx, member, 'removed', await namesOf(tx, key.merchant_id, change), change.now)
    return { ...entryOf(member, 'team.remove'), before: { role: member.role }, after: null }
  })

const keyOf = ({ merchant_id, user_id }: TeamMember) => ({ merchant_id, user_id })
const entryOf = (member: TeamMember, action: string) => ({
  merchant_id: member.merchant_id,
  action,
  subject: member.user_id,
})

async function isLastOwner(tx: Tx, { merchant_id, user_id }: TeamMember) {
  const team = await listTeam(tx, merchant_id)
  return !team.some(other => other.role === 'owner' && other.active && other.user_id !== user_id)
}

const namesOf = async (tx: Tx, merchant_id: string, { by }: Change) => ({
  by,
  merchant: (await findMerchant(tx, merchant_id))?.name ?? '',
})

function changeTeam(
  db: Db,
  { merchant_id, user_id, mark }: MemberKey,
  { actor, by, now }: Change,
  work: (tx: Tx, member: TeamMember) => Promise<AuditEntry | 'last_owner' | 'outlets'>,
): Promise<MemberChange> {
  return audited(db, actor, now, async (tx, record) => {
    await lockTeam(tx, merchant_id)
    const member = (await listTeam(tx, merchant_id)).find(one => one.user_id === user_id)
    if (!member || memberMark(member) !== mark) return 'changed'
    const entry = await work(tx, member)
    if (typeof entry === 'string') return entry
    await removeSessionsOfUser(tx, user_id)
    await record(entry)
    await mailOwners(tx, merchant_id, { change: 'team', by }, now)
    return 'done'
  })
}
