import { invite, revokeInvitation } from '../../../actions/access/invitations.ts'
import { changeMember, type MemberChange, removeMember, teamOf } from '../../../actions/access/team.ts'
import { type MerchantRole, merchantRoles } from '../../../core/access/permissions.ts'
import { isUserLinkId, type UserLink, userLinkAddress } from '../../../core/access/userLink.ts'
import { maxUserEmail } from '../../../core/access/user.ts'
import { isEmail } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import type { MerchantRoute, MerchantVisit, Visit } from '../route.ts'
import { noticeIn } from './peopleParts.tsx'
import { type PeopleDone, type PeopleStopped, peopleTexts } from './peopleTexts.ts'
import {
  MemberPage,
  type Team,
  TeamInvitePage,
  TeamPage,
  teamPath,
  type TypedInvitation,
} from './teamPages.tsx'

type Handle = (deps: AreaDeps, c: Ctx, visit: MerchantVisit) => Promise<Response>

// Everything that changes the team is sensitive: a new owner may do everything. The forms are on pages that are sensitive
// too, so that nothing typed is lost to the question for the password.
export const teamRoutes = (deps: AreaDeps): MerchantRoute[] => {
  const at = (method: 'get' | 'post', path: string, handle: Handle): MerchantRoute => ({
    method,
    path: `/settings/team${path}`,
    permission: 'team.manage',
    isSensitive: true,
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    { ...at('get', '', showTeam), permission: 'team.view', isSensitive: false },
    at('get', '/invite', showInvite),
    at('post', '/invite', sendInvitation),
    at('post', '/revoke', revoke),
    at('get', '/member', showMember),
    at('post', '/change', change),
    at('post', '/remove', remove),
  ]
}

export const changeBy = ({ actor, signedIn, now }: Visit) => ({ actor, by: signedIn.user.name, now })
const loadTeam = ({ db, merchant, now }: MerchantVisit) => teamOf(db, merchant.merchant_id, now)

// The id that the form brought, so that a form that is submitted twice sends one mail.
export const linkIn = ({ field }: Visit) => (isUserLinkId(field('link')) ? field('link') : undefined)

// With a messenger for email nobody but the recipient sees a link. Without one an operator hands it over.
export const linkToHandOver = ({ runtime, messengers }: AreaDeps, visit: Visit) =>
  messengers?.configured('email') || visit.role.at !== 'operator' || !visit.may('users.manage')
    ? undefined
    : (link: UserLink) => userLinkAddress(runtime.formKey, runtime.dashboardUrl(), link)

async function showTeam(deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const page = (
    <TeamPage
      visit={visit}
      team={await loadTeam(visit)}
      notice={noticeIn(c, visit.lang)}
      hasMail={deps.messengers?.configured('email') ?? false}
      address={linkToHandOver(deps, visit)}
    />
  )
  return sendDashboardPage(c, page)
}

async function showInvite(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { outlets } = await loadTeam(visit)
  const typed = { email: '', role: '', outlets: [] }
  return sendDashboardPage(c, <TeamInvitePage visit={visit} outlets={outlets} typed={typed} />)
}

// Of a cashier only. None marked means all.
function typedOutlets(visit: MerchantVisit, { outlets }: Pick<Team, 'outlets'>) {
  return outlets.map(({ code }) => code).filter(code => visit.field(`outlet_${code}`) !== '')
}

const boundTo = (role: MerchantRole, outlets: readonly string[]) =>
  role === 'cashier' && outlets.length > 0 ? outlets : null

const roleIn = (visit: MerchantVisit) => merchantRoles.find(role => role === visit.field('role'))

const to = (c: Ctx, visit: MerchantVisit, word: { done: PeopleDone } | { stopped: PeopleStopped }) =>
  c.redirect(`${teamPath(visit)}?${new URLSearchParams(word).toString()}`, 303)

async function sendInvitation(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { merchant_id } = visit.merchant
  const team = await loadTeam(visit)
  const [email, role] = [visit.field('email').trim(), roleIn(visit)]
  const typed: TypedInvitation = { email, role: role ?? '', outlets: typedOutlets(visit, team) }
  const texts = peopleTexts[visit.lang]
  const again = (of: 'email' | 'role' | 'outlets', text: string) =>
    sendDashboardPage(
      c,
      <TeamInvitePage visit={visit} outlets={team.outlets} typed={typed} fault={{ of, text }} />,
      422,
    )
  if (!isEmail(email) || email.length > maxUserEmail) return again('email', texts.emailFault)
  if (!role) return again('role', texts.roleFault)
  const grant = { merchant_id, role, outlets: boundTo(role, typed.outlets) }
  const person = { email, lang: visit.lang, link_id: linkIn(visit) }
  const result = await invite(visit.db, person, grant, changeBy(visit))
  if (typeof result === 'string')
    return again(result === 'outlets' ? 'outlets' : 'email', texts.inviteFaults[result])
  return to(c, visit, { done: 'invited' })
}

async function revoke(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { merchant_id } = visit.merchant
  const done = await revokeInvitation(visit.db, { merchant_id }, visit.field('link'), changeBy(visit))
  return to(c, visit, done ? { done: 'revoked' } : { stopped: 'other' })
}

async function showMember(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const team = await loadTeam(visit)
  const member = team.members.find(({ user_id }) => user_id === c.req.query('user'))
  if (!member) return problemPage(c, visit.lang, 'notFound')
  return sendDashboardPage(c, <MemberPage visit={visit} team={team} member={member} />)
}

const keyOf = (visit: MerchantVisit) => ({
  merchant_id: visit.merchant.merchant_id,
  user_id: visit.field('user'),
  mark: visit.field('mark'),
})

const stops: Record<Exclude<MemberChange, 'done'>, PeopleStopped> = {
  changed: 'other',
  last_owner: 'lastOwner',
  outlets: 'outlets',
}

async function change(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const role = roleIn(visit)
  if (!role) return to(c, visit, { stopped: 'other' })
  const outlets = boundTo(role, typedOutlets(visit, await loadTeam(visit)))
  const result = await changeMember(visit.db, keyOf(visit), { role, outlets }, changeBy(visit))
  return to(c, visit, result === 'done' ? { done: 'changed' } : { stopped: stops[result] })
}

async function remove(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const result = await removeMember(visit.db, keyOf(visit), changeBy(visit))
  return to(c, visit, result === 'done' ? { done: 'removed' } : { stopped: stops[result] })
}
