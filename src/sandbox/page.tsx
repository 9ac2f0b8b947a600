import type { Context } from 'hono'
import type { Texts } from '../core/languages/en.ts'
import { chosenLang, type Lang, languages, preferredLang } from '../core/languages/languages.ts'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Markup, PropsWithChildren } from '../core/markup/jsx-runtime.ts'
import { NoticeCard, PageFrame, pageHeaders } from '../core/markup/page.tsx'
import { moneyWords } from '../core/moneyWords.ts'
import type { Charge } from '../store/sandboxCharges.ts'

const headers = pageHeaders()

// The language of a page: the one in its address, which the gateway passes on, or the browser's preference. `asked` is
// set in the first case; links keep it.
export type PageLanguage = { lang: Lang; asked?: Lang; t: Texts }

export function languageOf(c: Context): PageLanguage {
  const asked = chosenLang(c.req.query('lang'))
  const lang = asked ?? preferredLang(c.req.header('accept-language'))
  return { lang, asked, t: languages[lang] }
}

export const linkIn = ({ asked }: PageLanguage, path: string) => (asked ? `${path}?lang=${asked}` : path)

type PageProps = PropsWithChildren<{ language: PageLanguage; title: string }>

// The frame of every page of the simulated provider.
export const SandboxPage = ({ language: { lang, t }, title, children }: PageProps) => (
  <PageFrame
    lang={lang}
    dir={t.dir}
    title={title}
    styles={['/sandbox/public/sandbox.css']}
    header={<p class="test">{t.sandbox.banner}</p>}
  >
    <main>{children}</main>
  </PageFrame>
)

// A page with a single statement. `back` is the address of the checkout.
export const StatementPage = ({ language, title, children, back }: PageProps & { back?: string }) => (
  <SandboxPage language={language} title={title}>
    <NoticeCard title={title}>{children}</NoticeCard>
    {back && (
      <a class="button" href={back}>
        {language.t.sandbox.back}
      </a>
    )}
  </SandboxPage>
)

export const sendSandboxPage = (c: Context, page: Markup, http: ContentfulStatusCode = 200) =>
  c.html(page, http, headers)

export const chargeMoney = ({ amount, currency }: Pick<Charge, 'amount' | 'currency'>, { t }: PageLanguage) =>
  moneyWords(amount, currency, t.locale)

type Trouble = 'lost' | 'broken' | 'too_large'

function troublePage(c: Context, trouble: Trouble, http: 404 | 413 | 500 | 503) {
  const language = languageOf(c)
  const { sandbox } = language.t
  const page = (
    <StatementPage language={language} title={sandbox[trouble]}>
      <p>{sandbox[`${trouble}_words`]}</p>
    </StatementPage>
  )
  return sendSandboxPage(c, page, http)
}

export const lostPage = (c: Context) => troublePage(c, 'lost', 404)
export const sandboxBrokenPage = (c: Context, http: 500 | 503) => troublePage(c, 'broken', http)
export const tooLargePage = (c: Context) => troublePage(c, 'too_large', 413)

// The answer to a form that another site sent. The link opens the page of the charge.
export function elsewherePage(c: Context) {
  const language = languageOf(c)
  const { trouble } = language.t
  const [, , place = '', reference = ''] = c.req.path.split('/')
  const page = (
    <StatementPage language={language} title={trouble.elsewhere}>
      <p>{trouble.elsewhere_words}</p>
      <a class="button" href={linkIn(language, `/sandbox/${place}/${reference}`)}>
        {trouble.open}
      </a>
    </StatementPage>
  )
  return sendSandboxPage(c, page, 403)
}
