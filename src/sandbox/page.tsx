import type { Context } from 'hono'
import { formTokenField } from '../core/formOrigin.ts'
import type { Texts } from '../core/languages/en.ts'
import { chosenLang, type Lang, languages, preferredLang } from '../core/languages/languages.ts'
import { type Child, type PropsWithChildren, raw } from '../core/markup/jsx-runtime.ts'
import { moneyWords } from '../core/moneyWords.ts'
import type { Charge } from '../store/sandboxCharges.ts'

// Loads from us alone, shows in no frame, and tells nobody its address: that opens the charge.
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

// The language of a page: what its address asks for, which the gateway passes on, or what the browser likes best.
export type Speech = { lang: Lang; asked?: Lang; t: Texts }

export function speechOf(c: Context): Speech {
  const asked = chosenLang(c.req.query('lang'))
  const lang = asked ?? preferredLang(c.req.header('accept-language'))
  return { lang, asked, t: languages[lang] }
}

// A page of ours in the language that was asked for.
export const linkIn = ({ asked }: Speech, path: string) => (asked ? `${path}?lang=${asked}` : path)

type PageProps = PropsWithChildren<{ speech: Speech; title: string }>

// The frame of every page of the simulated provider.
export const Page = ({ speech: { lang, t }, title, children }: PageProps) => (
  <>
    {raw('<!doctype html>')}
    <html lang={lang} dir={t.dir}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="stylesheet" href="/sandbox/public/sandbox.css" />
      </head>
      <body>
        <header class="test">
          <p>{t.sandbox.banner}</p>
        </header>
        <main>{children}</main>
      </body>
    </html>
  </>
)

export const Notice = ({ speech, title, children, back }: PageProps & { back?: string }) => (
  <Page speech={speech} title={title}>
    <section class="card">
      <h1>{title}</h1>
      {children}
    </section>
    {back && (
      <a class="button" href={back}>
        {speech.t.sandbox.back}
      </a>
    )}
  </Page>
)

export const money = ({ amount, currency }: Pick<Charge, 'amount' | 'currency'>, { t }: Speech) =>
  moneyWords(amount, currency, t.locale)

// A text with elements in its {braces}.
export const Say = ({ text, ...values }: { text: string } & Record<string, Child>) => (
  <>{text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 0 ? part : values[part]))}</>
)

// The token of a form, see form.ts.
export const FormToken = ({ token }: { token: string }) => (
  <input type="hidden" name={formTokenField} value={token} />
)

type Trouble = 'lost' | 'broken' | 'too_large'

function troublePage(c: Context, trouble: Trouble, http: 404 | 413 | 500 | 503) {
  const speech = speechOf(c)
  const { sandbox } = speech.t
  const page = (
    <Notice speech={speech} title={sandbox[trouble]}>
      <p>{sandbox[`${trouble}_words`]}</p>
    </Notice>
  )
  return c.html(page, http, pageHeaders)
}

export const lostPage = (c: Context) => troublePage(c, 'lost', 404)
export const brokenPage = (c: Context, http: 500 | 503) => troublePage(c, 'broken', http)
export const tooLargePage = (c: Context) => troublePage(c, 'too_large', 413)

// A form that no page of ours sent. The link opens the page of the charge.
export function elsewherePage(c: Context) {
  const speech = speechOf(c)
  const { trouble } = speech.t
  const [, , place = '', reference = ''] = c.req.path.split('/')
  const page = (
    <Notice speech={speech} title={trouble.elsewhere}>
      <p>{trouble.elsewhere_words}</p>
      <a class="button" href={linkIn(speech, `/sandbox/${place}/${reference}`)}>
        {trouble.open}
      </a>
    </Notice>
  )
  return c.html(page, 403, pageHeaders)
}
