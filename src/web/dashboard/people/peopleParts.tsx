import type { UserLink } from '../../../core/access/userLink.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import type { Ctx } from '../../http/context.ts'
import { frameTexts } from '../frame/frameTexts.ts'
import { accountTime, ButtonForm } from '../ownAccount/ownAccountPages.tsx'
import type { Visit } from '../route.ts'
import { type PeopleDone, type PeopleStopped, peopleTexts } from './peopleTexts.ts'

// What a page says about the action before it: it is in the address, so only known words are shown.
export type PeopleNotice = { done?: PeopleDone; stopped?: PeopleStopped }

export function noticeIn(c: Ctx, lang: Lang): PeopleNotice {
  const { done, stopped } = peopleTexts[lang]
  const [did, stop] = [c.req.query('done') ?? '', c.req.query('stopped') ?? '']
  return {
    done: Object.hasOwn(done, did) ? (did as PeopleDone) : undefined,
    stopped: Object.hasOwn(stopped, stop) ? (stop as PeopleStopped) : undefined,
  }
}

export const Notices = ({ lang, notice }: { lang: Lang; notice: PeopleNotice }) => {
  const { done, stopped } = peopleTexts[lang]
  return (
    <>
      {notice.done && (
        <p class="notice ok" role="status">
          {done[notice.done]}
        </p>
      )}
      {notice.stopped && (
        <p class="notice" role="alert">
          {stopped[notice.stopped]}
        </p>
      )}
    </>
  )
}

type InvitationsProps = {
  visit: Visit
  invitations: readonly UserLink[]
  action: string // of the form that revokes one; empty: the visitor may not
  address?(link: UserLink): string // to hand over, if no mail goes out
}

export const InvitationsCard = ({ visit, invitations, action, address }: InvitationsProps) => {
  const texts = peopleTexts[visit.lang]
  const { roles } = frameTexts[visit.lang]
  return (
    <section class="card stack">
      <header>
        <h2>{texts.invitations}</h2>
      </header>
      {invitations.length === 0 && <p class="muted">{texts.noInvitations}</p>}
      {invitations.length > 0 && (
        <table class="fold">
          <thead>
            <tr>
              <th>{texts.email}</th>
              <th>{texts.role}</th>
              <th>{texts.until}</th>
              <th>{texts.action}</th>
            </tr>
          </thead>
          <tbody>
            {invitations.map(link => {
              const role = link.role ?? link.operator_role
              return (
                <tr>
                  <td class="wrap">
                    {link.email}
                    {address && (
                      <details class="hand-over">
                        <summary>{texts.link}</summary>
                        <code>{address(link)}</code>
                      </details>
                    )}
                  </td>
                  <td>
                    {role && roles[role]}{' '}
                    {link.outlets && <span class="muted">{link.outlets.join(', ')}</span>}
                  </td>
                  <td class="num">{accountTime(link.expires_at)}</td>
                  <td>
                    {action && (
                      <ButtonForm
                        visit={visit}
                        action={action}
                        label={texts.revoke}
                        fields={{ link: link.link_id }}
                      />
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </section>
  )
}

type RoleChoiceProps<R extends string> = {
  lang: Lang
  roles: readonly R[]
  texts: Readonly<Record<R, string>>
  names: Readonly<Record<R, string>>
  chosen?: string
  isFaulty?: boolean
}

// The roles with what each may do.
export const RoleChoice = <R extends string>(props: RoleChoiceProps<R>) => {
  const { lang, roles, texts, names, chosen, isFaulty } = props
  return (
    <fieldset class="roles" aria-invalid={isFaulty ? 'true' : undefined}>
      <legend>{peopleTexts[lang].role}</legend>
      {roles.map(role => (
        <label class="choice">
          <input type="radio" name="role" value={role} checked={role === chosen} required />
          <span>
            <b>{names[role]}</b>
            <small>{texts[role]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

type OutletChoiceProps = {
  lang: Lang
  outlets: readonly { code: string; name?: string | null }[]
  chosen: readonly string[]
}

export const OutletChoice = ({ lang, outlets, chosen }: OutletChoiceProps) =>
  outlets.length === 0 ? null : (
    <fieldset class="roles">
      <legend>{peopleTexts[lang].outlets}</legend>
      <p class="hint">{peopleTexts[lang].outletsText}</p>
      {outlets.map(({ code, name }) => (
        <label class="choice">
          <input type="checkbox" name={`outlet_${code}`} value="yes" checked={chosen.includes(code)} />
          <span>
            {name ?? code} <small>{code}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
