import { setUserActive, userPage } from '../../actions/access/people.ts'
import {
  type CommandLink,
  makeResetLink,
  rescueUser,
  userOfEmail,
} from '../../actions/access/commandLinks.ts'
import type { User } from '../../core/access/user.ts'
import { rescueMinutes, resetMinutes } from '../../core/access/userLink.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { CommandContext } from '../database.ts'
import { notFound, refused } from '../failure.ts'
import { type Output, pick } from '../output.ts'
import { dateTime, paragraphs, table } from '../terminal.ts'
import { addUserInvite } from './invite.ts'
import { linkTools } from './linkTools.ts'

export function addUserCommands(program: CliCommand) {
  const user = program
    .command('user')
    .description('List, invite and rescue the people who sign in to the dashboard.')
    .examples('tollgate user list', 'tollgate user invite ama@example.com --role admin')
  user
    .command('list')
    .description('List every user with the roles, the second factor and the last sign-in.')
    .examples('tollgate user list')
    .runWithDatabase(list)
  addUserInvite(user)
  user
    .command('reset <email>')
    .description(
      `Print a link for a new password. It works once, within ${resetMinutes} minutes. The second factor stays.`,
    )
    .examples('tollgate user reset ama@example.com')
    .runWithMasterKeys((context, email: string) => linkFor(context, email, false))
  user
    .command('rescue <email>')
    .description(
      `For a person who is locked out: remove password, second factor and passkeys, end all sessions, and print a link for a new password. It works once, within ${rescueMinutes} minutes.`,
    )
    .examples('tollgate user rescue ama@example.com')
    .runWithMasterKeys((context, email: string) => linkFor(context, email, true))
  user
    .command('deactivate <email>')
    .description('Refuse the sign-in of a user, and end the sessions. The roles stay.')
    .examples('tollgate user deactivate ama@example.com')
    .runWithDatabase((context, email: string) => activate(context, email, false))
  user
    .command('activate <email>')
    .description('Let a deactivated user sign in again.')
    .examples('tollgate user activate ama@example.com')
    .runWithDatabase((context, email: string) => activate(context, email, true))
}

async function list({ db }: CommandContext): Promise<Output> {
  const users: Awaited<ReturnType<typeof userPage>>['users'] = []
  const memberships: Awaited<ReturnType<typeof userPage>>['memberships'] = []
  let behind: string | undefined = ''
  while (behind !== undefined) {
    const page: Awaited<ReturnType<typeof userPage>> = await userPage(db, '', behind)
    users.push(...page.users)
    memberships.push(...page.memberships)
    behind = page.next
  }
  const data = users.map(user => ({
    ...pick(user, 'user_id', 'email', 'name', 'operator_role', 'has_second_factor', 'active', 'signed_in_at'),
    merchants: memberships
      .filter(({ user_id }) => user_id === user.user_id)
      .map(one => pick(one, 'merchant_id', 'role', 'outlets')),
  }))
  const rows = data.map(user => [
    user.email,
    user.name,
    [
      ...(user.operator_role ? [`operator ${user.operator_role}`] : []),
      ...user.merchants.map(({ merchant_id, role }) => `${role} of ${merchant_id}`),
    ].join(', '),
    user.has_second_factor ? 'yes' : 'no',
    user.active ? 'yes' : 'no',
    user.signed_in_at ? dateTime(user.signed_in_at) : 'never',
  ])
  const text =
    rows.length > 0
      ? table(['EMAIL', 'NAME', 'ROLES', '2ND FACTOR', 'ACTIVE', 'SIGNED IN'], rows)
      : 'There are no users yet: tollgate user invite EMAIL --role admin invites one.'
  return { data: { users: data }, text }
}

async function requireUser({ db }: CommandContext, email: string): Promise<User> {
  const user = await userOfEmail(db, email)
  if (!user) throw notFound(`There is no user ${email}: tollgate user list shows all.`)
  return user
}

async function linkFor(context: CommandContext, email: string, isRescue: boolean): Promise<Output> {
  const { deps, change } = await linkTools(context)
  const user = await requireUser(context, email)
  const made: CommandLink | undefined = await (isRescue ? rescueUser : makeResetLink)(deps, user, change)
  if (!made) throw refused(`${email} is deactivated: tollgate user activate comes first.`)
  const { link, expires_at } = made
  const minutes = isRescue ? rescueMinutes : resetMinutes
  return {
    data: { ...pick(user, 'user_id', 'email'), link, expires_at },
    text: paragraphs(
      isRescue &&
        'Password, second factor and passkeys are removed, and all sessions have ended. An operator sets up a new second factor at the next sign-in.',
      `Open this link in a browser, or hand it over in person. It works once, within ${minutes} minutes.`,
      `  ${link}`,
    ),
  }
}

const reasons = {
  last_admin: 'This is the last admin of the operator: invite another one first.',
  self: 'Nobody deactivates the own account.',
  changed: 'Nothing was changed: the user is in this state already.',
}

async function activate(context: CommandContext, email: string, active: boolean): Promise<Output> {
  const { db, actor, clock } = context
  const { user_id } = await requireUser(context, email)
  const change = { actor, by: actor.id, now: clock() }
  const result = await setUserActive(db, { user_id }, active, change)
  if (result === 'last_admin' || result === 'self') throw refused(reasons[result])
  const text =
    result === 'changed'
      ? reasons.changed
      : active
        ? `${email} can sign in again.`
        : `${email} cannot sign in any more, and all sessions have ended.`
  return { data: { user_id, email, active }, text }
}
