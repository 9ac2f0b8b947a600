import { memberMark, type teamOf } from '../../../actions/access/team.ts'
import { merchantRoles } from '../../../core/access/permissions.ts'
import type { UserLink } from '../../../core/access/userLink.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { newUserLinkId } from '../../../runtime/ids.ts'
import { MerchantPage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { accountTime, ButtonForm, FormFault } from '../ownAccount/ownAccountPages.tsx'
import type { MerchantVisit } from '../route.ts'
import { TextField } from '../signIn/signInPages.tsx'
import { InvitationsCard, Notices, OutletChoice, type PeopleNotice, RoleChoice } from './peopleParts.tsx'
import { peopleTexts } from './peopleTexts.ts'

export type Team = Awaited<ReturnType<typeof teamOf>>
type Member = Team['members'][number]
export const teamPath = (visit: MerchantVisit) => `${visit.base}/settings/team`

const Crumb = ({ visit, isBelow }: { visit: MerchantVisit; isBelow?: boolean }) => {
  const texts = peopleTexts[visit.lang]
  return (
    <p class="crumb">
      {isBelow ? (
        <a href={teamPath(visit)}>{texts.backToTeam}</a>
      ) : (
        <a href={`${visit.base}/settings`}>{texts.settings}</a>
      )}
    </p>
  )
}

type TeamProps = {
  visit: MerchantVisit
  team: Team
  notice: PeopleNotice
  hasMail: boolean
  address?(link: UserLink): string
}

export const TeamPage = ({ visit, team, notice, hasMail, address }: TeamProps) => {
  const texts = peopleTexts[visit.lang]
  const mayManage = visit.may('team.manage')
  const path = teamPath(visit)
  return (
    <MerchantPage visit={visit} title={texts.team} place="settings">
      <Crumb visit={visit} />
      <div class="title">
        <h1>{texts.team}</h1>
        {mayManage && (
          <a class="btn small" href={`${path}/invite`}>
            {texts.invite}
          </a>
        )}
      </div>
      <Notices lang={visit.lang} notice={notice} />
      <p class="muted">{texts.teamText}</p>
      <section class="card">
        <MembersTable visit={visit} members={team.members} />
      </section>
      {!hasMail && team.invitations.length > 0 && (
        <p class="notice">{address ? texts.noMail : texts.noMailMerchant}</p>
      )}
      <InvitationsCard
        visit={visit}
        invitations={team.invitations}
        action={mayManage ? `${path}/revoke` : ''}
        address={address}
      />
    </MerchantPage>
  )
}

const MembersTable = ({ visit, members }: { visit: MerchantVisit; members: readonly Member[] }) => {
  const texts = peopleTexts[visit.lang]
  const { roles } = frameTexts[visit.lang]
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.person}</th>
          <th>{texts.role}</th>
          <th>{texts.lastSignIn}</th>
          <th>{texts.action}</th>
        </tr>
      </thead>
      <tbody>
        {members.map(member => (
          <tr>
            <td class="wrap">
              <b>{member.name}</b>{' '}
              {member.user_id === visit.signedIn.user.user_id && <span class="pill">{texts.you}</span>}
              {!member.active && <span class="pill bad">{texts.deactivated}</span>}
              <small class="muted"> {member.email}</small>
            </td>
            <td>
              {roles[member.role]}{' '}
              {member.role === 'cashier' && (
                <span class="muted">{member.outlets?.join(', ') ?? texts.allOutlets}</span>
              )}
            </td>
            <td class="num">{member.signed_in_at ? accountTime(member.signed_in_at) : texts.never}</td>
            <td>
              {visit.may('team.manage') && (
                <a
                  class="btn plain small"
                  href={`${teamPath(visit)}/member?user=${member.user_id}`}
                  aria-label={`${texts.change}: ${member.name}`}
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

export type TypedInvitation = { email: string; role: string; outlets: readonly string[] }

type InviteProps = {
  visit: MerchantVisit
  outlets: Team['outlets']
  typed: TypedInvitation
  fault?: { of: 'email' | 'role' | 'outlets'; text: string }
}

export const TeamInvitePage = ({ visit, outlets, typed, fault }: InviteProps) => {
  const texts = peopleTexts[visit.lang]
  return (
    <MerchantPage visit={visit} title={texts.invite} place="settings">
      <Crumb visit={visit} isBelow />
      <section class="card roomy narrow">
        <form method="post" action={`${teamPath(visit)}/invite`} class="stack">
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
            roles={merchantRoles}
            texts={texts.roleTexts}
            names={frameTexts[visit.lang].roles}
            chosen={typed.role}
            isFaulty={fault?.of === 'role'}
          />
          <OutletChoice lang={visit.lang} outlets={outlets} chosen={typed.outlets} />
          <input type="hidden" name="link" value={newUserLinkId()} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn">
            {texts.send}
          </button>
        </form>
      </section>
    </MerchantPage>
  )
}

export const MemberPage = ({ visit, team, member }: { visit: MerchantVisit; team: Team; member: Member }) => {
  const texts = peopleTexts[visit.lang]
  const path = teamPath(visit)
  const mark = memberMark(member)
  return (
    <MerchantPage visit={visit} title={member.name} place="settings">
      <Crumb visit={visit} isBelow />
      <h1>{member.name}</h1>
      <p class="muted">{member.email}</p>
      <div class="halves">
        <section class="card">
          <form method="post" action={`${path}/change`} class="stack">
            <RoleChoice
              lang={visit.lang}
              roles={merchantRoles}
              texts={texts.roleTexts}
              names={frameTexts[visit.lang].roles}
              chosen={member.role}
            />
            <OutletChoice lang={visit.lang} outlets={team.outlets} chosen={member.outlets ?? []} />
            <input type="hidden" name="user" value={member.user_id} />
            <input type="hidden" name="mark" value={mark} />
            <FormToken token={visit.formToken} />
            <button type="submit" class="btn small">
              {texts.save}
            </button>
          </form>
        </section>
        <section class="card stack">
          <h2>{texts.remove}</h2>
          <p class="small">{texts.removeText}</p>
          <ButtonForm
            visit={visit}
            action={`${path}/remove`}
            label={texts.remove}
            kind="danger"
            fields={{ user: member.user_id, mark }}
          />
        </section>
      </div>
    </MerchantPage>
  )
}
