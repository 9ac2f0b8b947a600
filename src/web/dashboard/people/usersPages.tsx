import { userMark, type userPage } from '../../../actions/access/people.ts'
import { operatorRoles } from '../../../core/access/permissions.ts'
import type { UserLink } from '../../../core/access/userLink.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { newUserLinkId } from '../../../runtime/ids.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { accountTime, ButtonForm, FormFault } from '../ownAccount/ownAccountPages.tsx'
import { operatorBase, type Visit } from '../route.ts'
import { TextField } from '../signIn/signInPages.tsx'
import { InvitationsCard, Notices, type PeopleNotice, RoleChoice } from './peopleParts.tsx'
import { peopleTexts } from './peopleTexts.ts'

export const usersPath = `${operatorBase}/users`
export type UserList = Awaited<ReturnType<typeof userPage>>
type Listed = UserList['users'][number]

type UsersProps = {
  visit: Visit
  list: UserList
  search: string
  invitations: readonly UserLink[]
  notice: PeopleNotice
  address?(link: UserLink): string
}

export const UsersPage = ({ visit, list, search, invitations, notice, address }: UsersProps) => {
  const texts = peopleTexts[visit.lang]
  const mayManage = visit.may('users.manage')
  return (
    <OperatorPlacePage visit={visit} title={texts.users} place="users">
      <div class="title">
        <h1>{texts.users}</h1>
        {mayManage && (
          <a class="btn small" href={`${usersPath}/invite`}>
            {texts.invite}
          </a>
        )}
      </div>
      <Notices lang={visit.lang} notice={notice} />
      <section class="card stack">
        <form method="get" action={usersPath} class="row">
          <label for="q">{texts.search}</label>
          <input class="input" id="q" name="q" value={search} maxlength={254} />
          <button type="submit" class="btn plain small">
            {texts.searchButton}
          </button>
        </form>
        {list.users.length === 0 ? (
          <p class="muted">{texts.noneFound}</p>
        ) : (
          <UsersTable visit={visit} list={list} />
        )}
        {list.next && (
          <nav class="pager">
            <span />
            <a
              class="btn plain small"
              href={`${usersPath}?${new URLSearchParams({ q: search, behind: list.next }).toString()}`}
            >
              {texts.older}
            </a>
          </nav>
        )}
      </section>
      {address && invitations.length > 0 && <p class="notice">{texts.noMail}</p>}
      <InvitationsCard
        visit={visit}
        invitations={invitations}
        action={mayManage ? `${usersPath}/revoke` : ''}
        address={address}
      />
    </OperatorPlacePage>
  )
}

const UsersTable = ({ visit, list }: Pick<UsersProps, 'visit' | 'list'>) => {
  const texts = peopleTexts[visit.lang]
  const { roles } = frameTexts[visit.lang]
  const merchantsOf = (user_id: string) =>
    list.memberships
      .filter(one => one.user_id === user_id)
      .map(({ merchant_name, role }) => `${merchant_name} (${roles[role]})`)
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.person}</th>
          <th>{texts.role}</th>
          <th>{texts.secondFactor}</th>
          <th>{texts.lastSignIn}</th>
          <th>{texts.status}</th>
          <th>{texts.action}</th>
        </tr>
      </thead>
      <tbody>
        {list.users.map(user => (
          <tr>
            <td class="wrap">
              <b>{user.name}</b> <small class="muted">{user.email}</small>
            </td>
            <td>
              {[
                ...(user.operator_role ? [roles[user.operator_role]] : []),
                ...merchantsOf(user.user_id),
              ].join(', ')}
            </td>
            <td>{user.has_second_factor ? texts.on : texts.off}</td>
            <td class="num">{user.signed_in_at ? accountTime(user.signed_in_at) : texts.never}</td>
            <td>
              <StatusPill visit={visit} user={user} />
            </td>
            <td>
              {visit.may('users.manage') && !user.is_demo && (
                <a
                  class="btn plain small"
                  href={`${usersPath}/person?user=${user.user_id}`}
                  aria-label={`${texts.change}: ${user.name}`}
                >
                  {texts.change}
                </a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const StatusPill = ({ visit, user }: { visit: Visit; user: Listed }) => {
  const texts = peopleTexts[visit.lang]
  if (user.is_demo) return <span class="pill">{texts.demo}</span>
  return user.active ? (
    <span class="pill ok">{texts.active}</span>
  ) : (
    <span class="pill bad">{texts.deactivated}</span>
  )
}

const Back = ({ visit }: { visit: Visit }) => (
  <p class="crumb">
    <a href={usersPath}>{peopleTexts[visit.lang].backToUsers}</a>
  </p>
)

type InviteProps = {
  visit: Visit
  typed: { email: string; role: string }
  fault?: { of: 'email' | 'role'; text: string }
}

export const OperatorInvitePage = ({ visit, typed, fault }: InviteProps) => {
  const texts = peopleTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.invite} place="users">
      <Back visit={visit} />
      <section class="card roomy narrow">
        <form method="post" action={`${usersPath}/invite`} class="stack">
          <h1>{texts.invite}</h1>
          <p>{texts.inviteText}</p>
          <FormFault text={fault?.text} />
          <TextField
            name="email"
            type="email"
            label={texts.email}
            value={typed.email}
            isFaulty={fault?.of === 'email'}
          />
          <RoleChoice
            lang={visit.lang}
            roles={operatorRoles}
            texts={texts.operatorRoleTexts}
            names={frameTexts[visit.lang].roles}
            chosen={typed.role}
            isFaulty={fault?.of === 'role'}
          />
          <input type="hidden" name="link" value={newUserLinkId()} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn">
            {texts.send}
          </button>
        </form>
      </section>
    </OperatorPlacePage>
  )
}

type PersonProps = { visit: Visit; user: Listed }

export const PersonPage = ({ visit, user }: PersonProps) => (
  <OperatorPlacePage visit={visit} title={user.name} place="users">
    <Back visit={visit} />
    <div class="title">
      <h1>{user.name}</h1>
      <StatusPill visit={visit} user={user} />
    </div>
    <p class="muted">{user.email}</p>
    <div class="halves">
      <OperatorRoleCard visit={visit} user={user} />
      <AccountCards visit={visit} user={user} />
    </div>
  </OperatorPlacePage>
)

const OperatorRoleCard = ({ visit, user }: PersonProps) => {
  const texts = peopleTexts[visit.lang]
  return (
    <section class="card">
      <form method="post" action={`${usersPath}/role`} class="stack">
        <RoleChoice
          lang={visit.lang}
          roles={[...operatorRoles, 'none']}
          texts={{ ...texts.operatorRoleTexts, none: '' }}
          names={{ ...frameTexts[visit.lang].roles, none: texts.none }}
          chosen={user.operator_role ?? 'none'}
        />
        <input type="hidden" name="user" value={user.user_id} />
        <input type="hidden" name="mark" value={userMark(user)} />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn small">
          {texts.save}
        </button>
      </form>
    </section>
  )
}

const AccountCards = ({ visit, user }: PersonProps) => {
  const texts = peopleTexts[visit.lang]
  const fields = { user: user.user_id, mark: userMark(user) }
  if (user.user_id === visit.signedIn.user.user_id) return null
  return (
    <div class="stack">
      <section class="card stack">
        <h2>{user.active ? texts.deactivate : texts.activate}</h2>
        <p class="small">{user.active ? texts.deactivateText : texts.activateText}</p>
        <ButtonForm
          visit={visit}
          action={`${usersPath}/${user.active ? 'deactivate' : 'activate'}`}
          label={user.active ? texts.deactivate : texts.activate}
          kind={user.active ? 'danger' : 'plain'}
          fields={fields}
        />
      </section>
      {user.has_second_factor && (
        <section class="card stack">
          <h2>{texts.resetFactor}</h2>
          <p class="small">{texts.resetFactorText}</p>
          <ButtonForm
            visit={visit}
            action={`${usersPath}/second-factor`}
            label={texts.resetFactor}
            kind="danger"
            fields={fields}
          />
        </section>
      )}
    </div>
  )
}
