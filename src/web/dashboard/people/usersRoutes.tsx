import { invite, revokeInvitation } from '../../../actions/access/invitations.ts'
import {
  changeOperatorRole,
  listedUser,
  operatorInvitations,
  resetSecondFactor,
  setUserActive,
  type UserChange,
  userPage,
} from '../../../actions/access/people.ts'
import { operatorRoles } from '../../../core/access/permissions.ts'
import { maxUserEmail } from '../../../core/access/user.ts'
import { isEmail, isPlainText } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import type { OperatorRoute, Visit } from '../route.ts'
import { noticeIn } from './peopleParts.tsx'
import { type PeopleDone, type PeopleStopped, peopleTexts } from './peopleTexts.ts'
import { changeBy, linkIn, linkToHandOver } from './teamRoutes.tsx'
import { OperatorInvitePage, PersonPage, UsersPage, usersPath } from './usersPages.tsx'

type Handle = (c: Ctx, visit: Visit) => Promise<Response> | Response

const at = (method: 'get' | 'post', path: string, handle: Handle): OperatorRoute => ({
  method,
  path: `/users${path}`,
  permission: 'users.manage',
  isSensitive: true,
  handle,
})

// Everything that changes a user is sensitive, and so are the pages with its forms.
export const usersRoutes = (deps: AreaDeps): OperatorRoute[] => [
  {
    ...at('get', '', (c, visit) => showUsers(deps, c, visit)),
    permission: 'users.view',
    isSensitive: false,
  },
  at('get', '/invite', (c, visit) => showInvite(c, visit, { email: '', role: '' })),
  at('post', '/invite', sendInvitation),
  at('post', '/revoke', revoke),
  at('get', '/person', showPerson),
  at('post', '/role', saveRole),
  at('post', '/deactivate', async (c, visit) =>
    to(c, await setUserActive(visit.db, keyOf(visit), false, changeBy(visit)), 'deactivated'),
  ),
  at('post', '/activate', async (c, visit) =>
    to(c, await setUserActive(visit.db, keyOf(visit), true, changeBy(visit)), 'activated'),
  ),
  at('post', '/second-factor', async (c, visit) =>
    to(c, await resetSecondFactor(visit.db, keyOf(visit), changeBy(visit)), 'factor'),
  ),
]

const plain = (text = '') => (isPlainText(text) && text.length <= maxUserEmail ? text : '')

async function showUsers(deps: AreaDeps, c: Ctx, visit: Visit) {
  const [search, behind] = [plain(c.req.query('q')), plain(c.req.query('behind'))]
  const [list, invitations] = await Promise.all([
    userPage(visit.db, search, behind),
    operatorInvitations(visit.db, visit.now),
  ])
  const page = (
    <UsersPage
      visit={visit}
      list={list}
      search={search}
      invitations={invitations}
      notice={noticeIn(c, visit.lang)}
      address={linkToHandOver(deps, visit)}
    />
  )
  return sendDashboardPage(c, page)
}

type Typed = { email: string; role: string }

const showInvite = (c: Ctx, visit: Visit, typed: Typed, fault?: { of: 'email' | 'role'; text: string }) =>
  sendDashboardPage(c, <OperatorInvitePage visit={visit} typed={typed} fault={fault} />, fault ? 422 : 200)

async function sendInvitation(c: Ctx, visit: Visit) {
  const texts = peopleTexts[visit.lang]
  const typed = { email: visit.field('email').trim(), role: visit.field('role') }
  const operator_role = operatorRoles.find(role => role === typed.role)
  if (!isEmail(typed.email) || typed.email.length > maxUserEmail)
    return showInvite(c, visit, typed, { of: 'email', text: texts.emailFault })
  if (!operator_role) return showInvite(c, visit, typed, { of: 'role', text: texts.roleFault })
  const person = { email: typed.email, lang: visit.lang, link_id: linkIn(visit) }
  const result = await invite(visit.db, person, { merchant_id: null, operator_role }, changeBy(visit))
  if (typeof result === 'string')
    return showInvite(c, visit, typed, { of: 'email', text: texts.inviteFaults[result] })
  return c.redirect(`${usersPath}?done=invited`, 303)
}

async function revoke(c: Ctx, visit: Visit) {
  const done = await revokeInvitation(visit.db, { merchant_id: null }, visit.field('link'), changeBy(visit))
  return c.redirect(`${usersPath}?${done ? 'done=revoked' : 'stopped=other'}`, 303)
}

async function showPerson(c: Ctx, visit: Visit) {
  const user = await listedUser(visit.db, plain(c.req.query('user')))
  if (!user || user.is_demo) return problemPage(c, visit.lang, 'notFound')
  return sendDashboardPage(c, <PersonPage visit={visit} user={user} />)
}

const keyOf = (visit: Visit) => ({ user_id: visit.field('user'), mark: visit.field('mark') })

const stops: Record<Exclude<UserChange, 'done'>, PeopleStopped> = {
  changed: 'other',
  last_admin: 'lastAdmin',
  self: 'self',
}

const to = (c: Ctx, result: UserChange, done: PeopleDone) =>
  c.redirect(`${usersPath}?${result === 'done' ? `done=${done}` : `stopped=${stops[result]}`}`, 303)

async function saveRole(c: Ctx, visit: Visit) {
  const typed = visit.field('role')
  const role = operatorRoles.find(one => one === typed) ?? null
  if (!role && typed !== 'none') return to(c, 'changed', 'changed')
  return to(c, await changeOperatorRole(visit.db, keyOf(visit), role, changeBy(visit)), 'changed')
}
