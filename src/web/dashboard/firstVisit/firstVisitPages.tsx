import { demoId } from '../../../actions/merchants/onboard.ts'
import { CodeBlock, FormToken } from '../../../core/markup/page.tsx'
import { BarePage } from '../frame/frame.tsx'
import { merchantBase, operatorBase, type PublicVisit } from '../route.ts'
import { TextField } from '../signIn/signInPages.tsx'
import { signInTexts } from '../signIn/signInTexts.ts'
import { firstVisitTexts } from './firstVisitTexts.ts'

type PageProps = { visit: PublicVisit }

export type AccountFault = { of: 'name' | 'email' | 'password' | 'form'; text: string }

type FirstVisitProps = PageProps & {
  hasDemo: boolean
  typed?: { name: string; email: string }
  fault?: AccountFault
}

export const firstVisitPath = '/dashboard/first-visit'

// What a browser sees that has opened the link of the terminal, while there is no account.
export const FirstVisitPage = ({ visit, hasDemo, typed, fault }: FirstVisitProps) => {
  const texts = firstVisitTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.title}>
      <h1>{texts.title}</h1>
      {hasDemo && <DemoCard visit={visit} />}
      <AccountCard visit={visit} typed={typed} fault={fault} />
      <p>
        <a href="/support">{texts.support}</a>
      </p>
    </BarePage>
  )
}

const DemoCard = ({ visit }: PageProps) => {
  const texts = firstVisitTexts[visit.lang]
  return (
    <section class="card roomy stack">
      <h2>{texts.demo}</h2>
      <p>{texts.demoText}</p>
      <a class="btn wide" href={merchantBase(demoId, 'test')}>
        {texts.asMerchant}
      </a>
      <a class="btn plain wide" href={operatorBase}>
        {texts.asOperator}
      </a>
      <a href="/">{texts.buy}</a>
    </section>
  )
}

const AccountCard = ({ visit, typed, fault }: Omit<FirstVisitProps, 'hasDemo'>) => {
  const texts = firstVisitTexts[visit.lang]
  const { email, password } = signInTexts[visit.lang]
  return (
    <section class="card roomy">
      <form method="post" action={firstVisitPath} class="stack">
        <h2>{texts.account}</h2>
        <p>{texts.accountText}</p>
        {fault && (
          <p class="fault" role="alert">
            {fault.text}
          </p>
        )}
        <TextField
          name="name"
          label={texts.name}
          value={typed?.name}
          autocomplete="name"
          isFaulty={fault?.of === 'name'}
        />
        <TextField
          name="email"
          label={email}
          type="email"
          value={typed?.email}
          autocomplete="username"
          isFaulty={fault?.of === 'email'}
        />
        <TextField
          name="password"
          label={password}
          type="password"
          autocomplete="new-password"
          hint={texts.passwordHint}
          isFaulty={fault?.of === 'password'}
        />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn wide">
          {texts.create}
        </button>
      </form>
    </section>
  )
}

// Without the link, and while there is no account.
export const NoAccountPage = ({ visit }: PageProps) => {
  const texts = firstVisitTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.noLink}>
      <section class="card roomy stack">
        <h1>{texts.noLink}</h1>
        <p>{texts.noLinkText}</p>
        <CodeBlock code="npx tollgate support link" />
      </section>
    </BarePage>
  )
}

export const AccountExistsPage = ({ visit }: PageProps) => {
  const texts = firstVisitTexts[visit.lang]
  return (
    <BarePage lang={visit.lang} title={texts.exists}>
      <section class="card roomy stack">
        <h1>{texts.exists}</h1>
        <p>{texts.existsText}</p>
        <a class="btn wide" href="/dashboard/sign-in">
          {texts.signIn}
        </a>
        <a href="/support">{texts.support}</a>
      </section>
    </BarePage>
  )
}
