import type { UserSession } from '../../../core/access/user.ts'
import { shownRecoveryCode, totpAddress } from '../../../core/access/secondFactor.ts'
import { recoveryMark, secondFactorMark } from '../../../actions/access/ownAccount.ts'
import { fill } from '../../../core/text.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { Qr } from '../../checkout/qrCode.tsx'
import { firstPath, initials, OwnPage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { merchantBase, operatorBase, type Visit } from '../route.ts'
import { TextField } from '../signIn/signInPages.tsx'
import { type OwnNotice, ownAccountTexts } from './ownAccountTexts.ts'

const textsOf = ({ lang }: Visit) => ownAccountTexts[lang]
const languages = ['en', 'fr'] as const
export const accountTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

export const DoneNotice = ({ text }: { text?: string }) =>
  text ? (
    <p class="notice ok" role="status">
      {text}
    </p>
  ) : null

type ButtonFormProps = {
  visit: Pick<Visit, 'formToken'>
  action: string
  label: string
  kind?: string
  fields?: Readonly<Record<string, string>>
}

// A form that is one button.
export const ButtonForm = ({ visit, action, label, kind = 'plain', fields = {} }: ButtonFormProps) => (
  <form method="post" action={action}>
    <FormToken token={visit.formToken} />
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <button type="submit" class={`btn ${kind} small`}>
      {label}
    </button>
  </form>
)

type AccountProps = {
  visit: Visit
  sessions: readonly UserSession[]
  passkeys?: Child
  head?: Child
  notice?: OwnNotice
  fault?: { of: 'name' | 'password'; text: string }
}

export const AccountPage = ({ visit, sessions, passkeys, head, notice, fault }: AccountProps) => {
  const texts = textsOf(visit)
  return (
    <OwnPage visit={visit} title={texts.title} head={head}>
      <h1>{texts.title}</h1>
      <DoneNotice text={notice && texts.done[notice]} />
      <div class="halves">
        <ProfileCard visit={visit} fault={fault?.of === 'name' ? fault.text : undefined} />
        <PasswordCard visit={visit} fault={fault?.of === 'password' ? fault.text : undefined} />
        <SecondFactorCard visit={visit} />
        {passkeys}
      </div>
      <SessionsCard visit={visit} sessions={sessions} />
    </OwnPage>
  )
}

export const FormFault = ({ text }: { text?: string }) =>
  text ? (
    <p class="fault" role="alert">
      {text}
    </p>
  ) : null

const ProfileCard = ({ visit, fault }: { visit: Visit; fault?: string }) => {
  const texts = textsOf(visit)
  const { user } = visit.signedIn
  return (
    <section class="card">
      <form method="post" action="/dashboard/account/profile" class="stack">
        <h2>{texts.profile}</h2>
        <FormFault text={fault} />
        <TextField name="name" label={texts.name} value={user.name} autocomplete="name" />
        <p class="small">
          {texts.email}: {user.email}
        </p>
        <div class="field">
          <label for="lang">{texts.language}</label>
          <select class="input" id="lang" name="lang">
            {languages.map(lang => (
              <option value={lang} selected={lang === visit.lang}>
                {texts.languages[lang]}
              </option>
            ))}
          </select>
        </div>
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn small">
          {texts.save}
        </button>
      </form>
    </section>
  )
}

const PasswordCard = ({ visit, fault }: { visit: Visit; fault?: string }) => {
  const texts = textsOf(visit)
  return (
    <section class="card">
      <form method="post" action="/dashboard/account/password" class="stack">
        <h2>{texts.password}</h2>
        <FormFault text={fault} />
        <TextField
          name="password"
          type="password"
          label={texts.newPassword}
          hint={texts.passwordHint}
          autocomplete="new-password"
          isFaulty={fault !== undefined}
        />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn small">
          {texts.changePassword}
        </button>
      </form>
    </section>
  )
}

const SecondFactorCard = ({ visit }: { visit: Visit }) => {
  const texts = textsOf(visit)
  const { sealed_totp, recovery_digests, operator_role } = visit.signedIn.user
  const isOn = sealed_totp !== null
  return (
    <section class="card stack">
      <header>
        <h2>{texts.secondFactor}</h2>
        <span class={isOn ? 'pill ok' : 'pill wait'}>{isOn ? texts.isOn : texts.isOff}</span>
      </header>
      {isOn && (
        <p class="small">
          {texts.recovery}: {fill(texts.recoveryLeft, { count: recovery_digests.length })}
        </p>
      )}
      <div class="row">
        <a class="btn plain small" href="/dashboard/account/second-factor">
          {isOn ? texts.replace : texts.setUp}
        </a>
        {isOn && (
          <ButtonForm
            visit={visit}
            action="/dashboard/account/recovery-codes"
            label={texts.newCodes}
            fields={{ mark: recoveryMark(visit.signedIn.user) }}
          />
        )}
        {isOn && !operator_role && (
          <ButtonForm
            visit={visit}
            action="/dashboard/account/second-factor/remove"
            label={texts.remove}
            kind="danger"
          />
        )}
      </div>
      {operator_role && <p class="small muted">{texts.required}</p>}
    </section>
  )
}

const SessionsCard = ({ visit, sessions }: { visit: Visit; sessions: readonly UserSession[] }) => {
  const texts = textsOf(visit)
  const own = visit.signedIn.session.session_digest
  return (
    <section class="card stack">
      <header>
        <h2>{texts.sessions}</h2>
        {sessions.length > 1 && (
          <ButtonForm visit={visit} action="/dashboard/account/sessions/others" label={texts.endOthers} />
        )}
      </header>
      <table class="fold">
        <thead>
          <tr>
            <th>{texts.seen}</th>
            <th>{texts.since}</th>
            <th>{texts.from}</th>
            <th>{texts.action}</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(session => (
            <tr>
              <td class="num">{accountTime(session.seen_at)}</td>
              <td class="num">{accountTime(session.created_at)}</td>
              <td>
                {session.address} <span class="muted">{session.agent.slice(0, 60)}</span>
              </td>
              <td>
                {session.session_digest === own ? (
                  <b>{texts.thisBrowser}</b>
                ) : (
                  <ButtonForm
                    visit={visit}
                    action="/dashboard/account/sessions/end"
                    label={texts.end}
                    fields={{ session: session.session_digest }}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

type SetupProps = { visit: Visit; secret: string; fault?: string }

export const SecondFactorSetupPage = ({ visit, secret, fault }: SetupProps) => {
  const texts = textsOf(visit)
  const { user } = visit.signedIn
  const isForced = user.operator_role !== null && user.sealed_totp === null
  return (
    <OwnPage visit={visit} title={texts.setupTitle}>
      <section class="card roomy narrow">
        <form method="post" action="/dashboard/account/second-factor" class="stack">
          <h1>{texts.setupTitle}</h1>
          {isForced && <p class="notice">{texts.setupRequired}</p>}
          <p>{texts.setupText}</p>
          <div class="totp-qr">
            <Qr text={totpAddress(secret, user.email)} title={texts.qr} />
          </div>
          <p class="small">
            {texts.key}: <code>{(secret.match(/.{4}/g) ?? []).join(' ')}</code>
          </p>
          <FormFault text={fault} />
          <TextField
            name="code"
            label={texts.code}
            autocomplete="one-time-code"
            isCode
            isFaulty={fault !== undefined}
          />
          <input type="hidden" name="secret" value={secret} />
          <input type="hidden" name="mark" value={secondFactorMark(user)} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn wide">
            {texts.finish}
          </button>
        </form>
      </section>
    </OwnPage>
  )
}

export const RecoveryCodesPage = ({ visit, codes }: { visit: Visit; codes: readonly string[] }) => {
  const texts = textsOf(visit)
  return (
    <OwnPage visit={visit} title={texts.codesTitle}>
      <section class="card roomy narrow stack">
        <h1>{texts.codesTitle}</h1>
        <p>{texts.codesText}</p>
        <ul class="codes">
          {codes.map(code => (
            <li>
              <code>{shownRecoveryCode(code)}</code>
            </li>
          ))}
        </ul>
        <a class="btn wide" href="/dashboard">
          {texts.codesDone}
        </a>
      </section>
    </OwnPage>
  )
}

// The merchants of the user, and the operator's part.
export const PlacesPage = ({ visit }: { visit: Visit }) => {
  const texts = textsOf(visit)
  const { roles } = frameTexts[visit.lang]
  const { user, memberships } = visit.signedIn
  return (
    <OwnPage visit={visit} title={texts.places}>
      <h1>{texts.places}</h1>
      {memberships.length === 0 && !user.operator_role && <p>{texts.noPlaces}</p>}
      <ul class="places">
        {user.operator_role && (
          <PlaceCard href={operatorBase} name={texts.operatorPart} role={roles[user.operator_role]} />
        )}
        {memberships.map(({ merchant_id, merchant_name, role }) => (
          <PlaceCard
            href={`${merchantBase(merchant_id, 'live')}${firstPath({ at: 'merchant', role })}`}
            name={merchant_name}
            role={roles[role]}
          />
        ))}
      </ul>
    </OwnPage>
  )
}

const PlaceCard = ({ href, name, role }: { href: string; name: string; role: string }) => (
  <li>
    <a class="card place" href={href}>
      <span class="mark big" aria-hidden="true">
        {initials(name)}
      </span>
      <span>
        <b>{name}</b>
        <small>{role}</small>
      </span>
    </a>
  </li>
)
