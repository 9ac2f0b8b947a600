import type { OpenInvitation } from '../../../actions/access/invitations.ts'
import type { PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { NoticeCard } from '../../../core/markup/page.tsx'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import { fill } from '../../../core/text.ts'
import { BarePage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { ownAccountTexts } from '../ownAccount/ownAccountTexts.ts'
import type { PublicVisit } from '../route.ts'
import { FormCard, TextField } from '../signIn/signInPages.tsx'
import { signInTexts } from '../signIn/signInTexts.ts'
import { linkTexts } from './linkTexts.ts'

type VisitProps = { visit: PublicVisit; fault?: string }

export const AskResetPage = ({ visit, fault, email }: VisitProps & { email?: string }) => {
  const texts = linkTexts[visit.lang]
  const { email: label, back } = signInTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.resetTitle}>
      <FormCard
        title={texts.resetTitle}
        fault={fault}
        action="/dashboard/reset"
        formToken={visit.formToken}
        button={texts.send}
        below={<a href="/dashboard/sign-in">{back}</a>}
      >
        <p>{texts.resetText}</p>
        <TextField
          name="email"
          label={label}
          type="email"
          value={email}
          autocomplete="username"
          isFocused
          isFaulty={fault !== undefined}
        />
      </FormCard>
    </BarePage>
  )
}

export const ResetSentPage = ({ visit, email }: { visit: PublicVisit; email: string }) => {
  const texts = linkTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.sentTitle}>
      <NoticeCard title={texts.sentTitle}>
        <p>{fill(texts.sentText, { email })}</p>
        <p>
          <a href="/dashboard/sign-in">{signInTexts[visit.lang].back}</a>
        </p>
      </NoticeCard>
    </BarePage>
  )
}

export const NewPasswordPage = ({ visit, fault, action }: VisitProps & { action: string }) => {
  const texts = linkTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.resetTitle}>
      <FormCard
        title={texts.resetTitle}
        fault={fault}
        action={action}
        formToken={visit.formToken}
        button={texts.save}
      >
        <TextField
          name="password"
          type="password"
          label={texts.newPassword}
          hint={texts.passwordHint}
          autocomplete="new-password"
          isFocused
          isFaulty={fault !== undefined}
        />
      </FormCard>
    </BarePage>
  )
}

type EndedProps = PropsWithChildren<{ lang: Lang; isReset: boolean }>

export const EndedLinkPage = ({ lang, isReset }: EndedProps) => {
  const { ended, askAgain } = linkTexts[lang]
  return (
    <BarePage lang={lang} title={ended.title}>
      <NoticeCard title={ended.title} tone="warn">
        <p>{ended.text}</p>
        <p>
          {isReset ? (
            <a href="/dashboard/reset">{askAgain}</a>
          ) : (
            <a href="/dashboard/sign-in">{signInTexts[lang].back}</a>
          )}
        </p>
      </NoticeCard>
    </BarePage>
  )
}

type AcceptProps = {
  visit: PublicVisit
  invitation: OpenInvitation
  action: string
  typed?: { name: string; lang: string }
  fault?: { of: 'name' | 'password' | 'form'; text: string }
}

export const AcceptPage = ({ visit, invitation, action, typed, fault }: AcceptProps) => {
  const texts = linkTexts[visit.lang]
  const { link, merchant_name, user } = invitation
  const role = link.role ?? link.operator_role
  const title = merchant_name ? fill(texts.invitationTitle, { merchant: merchant_name }) : texts.operatorTitle
  return (
    <BarePage lang={visit.lang} title={title}>
      <FormCard
        title={title}
        fault={fault?.text}
        action={action}
        formToken={visit.formToken}
        button={texts.accept}
      >
        {role && <p>{fill(texts.joinAs, { role: frameTexts[visit.lang].roles[role], email: link.email })}</p>}
        {user ? (
          <p>{texts.hasAccount}</p>
        ) : (
          <NewPersonFields visit={visit} email={link.email} typed={typed} fault={fault} />
        )}
      </FormCard>
    </BarePage>
  )
}

type NewPersonProps = Pick<AcceptProps, 'visit' | 'typed' | 'fault'> & { email: string }

const NewPersonFields = ({ visit, email, typed, fault }: NewPersonProps) => {
  const texts = linkTexts[visit.lang]
  const chosen = typed?.lang ?? visit.lang
  return (
    <>
      <TextField
        name="name"
        label={texts.name}
        value={typed?.name}
        autocomplete="name"
        isFocused
        isFaulty={fault?.of === 'name'}
      />
      <input type="hidden" name="email" value={email} autocomplete="username" />
      <TextField
        name="password"
        type="password"
        label={texts.password}
        hint={texts.newPasswordHint}
        autocomplete="new-password"
        isFaulty={fault?.of === 'password'}
      />
      <div class="field">
        <label for="lang">{texts.language}</label>
        <select class="input" id="lang" name="lang">
          {(Object.keys(languages) as Lang[]).map(lang => (
            <option value={lang} selected={lang === chosen}>
              {ownAccountTexts[visit.lang].languages[lang]}
            </option>
          ))}
        </select>
      </div>
    </>
  )
}
