import type { Lang } from '../../../core/languages/languages.ts'
import type { Child, PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import type { Ctx } from '../../http/context.ts'
import { BarePage, sendDashboardPage } from '../frame/frame.tsx'
import type { PublicVisit } from '../route.ts'
import { PasskeyScript, PasskeySignIn } from './passkeySignIn.tsx'
import { signInTexts } from './signInTexts.ts'

type FieldProps = {
  name: string
  label: string
  type?: 'text' | 'email' | 'password'
  value?: string
  autocomplete?: string
  hint?: string
  isCode?: boolean
  isFocused?: boolean
  isFaulty?: boolean
}

// A labelled input. The name is also its id: a page has each name once.
export const TextField = (props: FieldProps) => {
  const { name, label, type = 'text', value, autocomplete, hint, isCode, isFocused, isFaulty } = props
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      <input
        class="input"
        id={name}
        name={name}
        type={type}
        value={value}
        required
        maxlength={254}
        autocomplete={autocomplete}
        inputmode={isCode ? 'numeric' : undefined}
        autofocus={isFocused || undefined}
        aria-describedby={hint && `${name}-hint`}
        aria-invalid={isFaulty ? 'true' : undefined}
      />
    </div>
  )
}

type FormCardProps = PropsWithChildren<{
  title: string
  fault?: string
  done?: string
  action: string
  formToken: string
  button: string
  below?: Child
}>

// A page's only form.
export const FormCard = (props: FormCardProps) => {
  const { title, fault, done, action, formToken, button, below, children } = props
  return (
    <section class="card roomy">
      <form method="post" action={action} class="stack">
        <h1>{title}</h1>
        {done && <p class="notice ok">{done}</p>}
        {fault && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        {children}
        <FormToken token={formToken} />
        <button type="submit" class="btn wide">
          {button}
        </button>
        {below}
      </form>
    </section>
  )
}

// Sends a page of a browser without a session.
export const sendPublicPage = (c: Ctx, visit: PublicVisit, page: Child, http = 200, more = {}) =>
  sendDashboardPage(c, page, http, { 'set-cookie': visit.formCookie, ...more })

export type SignInNotice = 'signedOut' | 'changed' | 'ended' | 'joined'
type SignInPageProps = {
  visit: PublicVisit
  next: string
  email?: string
  fault?: string
  notice?: SignInNotice
  hasPasskeys: boolean // this address may have them
}

export const SignInPage = ({ visit, next, email, fault, notice, hasPasskeys }: SignInPageProps) => {
  const texts = signInTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.signIn} head={hasPasskeys && <PasskeyScript />}>
      <FormCard
        title={texts.signIn}
        fault={fault}
        done={notice && texts[notice]}
        action="/dashboard/sign-in"
        formToken={visit.formToken}
        button={texts.signIn}
        below={<a href="/dashboard/reset">{texts.forgotten}</a>}
      >
        <TextField
          name="email"
          label={texts.email}
          type="email"
          value={email}
          autocomplete="username webauthn"
          isFocused={!email}
          isFaulty={fault !== undefined}
        />
        <TextField
          name="password"
          label={texts.password}
          type="password"
          autocomplete="current-password"
          isFocused={Boolean(email)}
          isFaulty={fault !== undefined}
        />
        <input type="hidden" name="next" value={next} />
      </FormCard>
      {hasPasskeys && <PasskeySignIn visit={visit} next={next} />}
    </BarePage>
  )
}

type CodePageProps = { visit: PublicVisit; next: string; fault?: string }

export const SecondFactorPage = ({ visit, next, fault }: CodePageProps) => {
  const texts = signInTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.secondFactor}>
      <FormCard
        title={texts.secondFactor}
        fault={fault}
        action="/dashboard/second-factor"
        formToken={visit.formToken}
        button={texts.next}
        below={<a href="/dashboard/sign-in">{texts.back}</a>}
      >
        <TextField
          name="code"
          label={texts.code}
          hint={texts.codeText}
          autocomplete="one-time-code"
          isFocused
          isFaulty={fault !== undefined}
        />
        <input type="hidden" name="next" value={next} />
      </FormCard>
    </BarePage>
  )
}

type ConfirmPageProps = { lang: Lang; formToken: string; next: string; hasCodes: boolean; fault?: string }

export const ConfirmPage = ({ lang, formToken, next, hasCodes, fault }: ConfirmPageProps) => {
  const texts = signInTexts[lang]
  return (
    <BarePage lang={lang} title={texts.confirm}>
      <FormCard
        title={texts.confirm}
        fault={fault}
        action="/dashboard/confirm"
        formToken={formToken}
        button={texts.next}
        below={<a href="/dashboard">{texts.back}</a>}
      >
        <TextField
          name="secret"
          type="password"
          label={hasCodes ? texts.confirmField : texts.password}
          hint={hasCodes ? texts.confirmText : texts.confirmPassword}
          autocomplete="current-password"
          isFocused
          isFaulty={fault !== undefined}
        />
        <input type="hidden" name="next" value={next} />
      </FormCard>
    </BarePage>
  )
}
