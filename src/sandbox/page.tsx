import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { formSender, formTokenField, formTokenOf, isFormToken } from '../core/formOrigin.ts'
import type { Texts } from '../core/languages/en.ts'
import { chosenLang, type Lang, languages, preferredLang } from '../core/languages/languages.ts'
import type { Markup, PropsWithChildren } from '../core/markup/jsx-runtime.ts'
import { PageFrame, pageHeaders, pagePolicy, SiteHeader, type SitePlace } from '../core/markup/page.tsx'
import { localizedMoney } from '../core/money.ts'
import type { Db } from '../store/db.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import type { Callbacks } from './callbacks.ts'

const headers = pageHeaders()

// The checkout of a test payment shows the test phone in a frame.
const phoneHeaders = {
  ...pageHeaders(pagePolicy(undefined, "'self'")),
  'x-frame-options': 'SAMEORIGIN',
}

// The language of a page: the one in its address, which the gateway passes on, or the browser's preference. In the first
// case `inUrl` is set, and links repeat it. `framed`: the page is in a frame of the checkout. `places` are the links of
// its header.
export type PageLanguage = {
  lang: Lang
  inUrl?: Lang
  framed?: boolean
  t: Texts
  places: readonly SitePlace[]
}

export function languageOf(c: Context): PageLanguage {
  const inUrl = chosenLang(c.req.query('lang'))
  const lang = inUrl ?? preferredLang(c.req.header('accept-language'))
  const framed = c.req.query('framed') !== undefined
  const places = c.get('places') as readonly SitePlace[] | undefined
  return { lang, inUrl, framed, t: languages[lang], places: places ?? publicPlaces }
}

const publicPlaces: readonly SitePlace[] = ['shop', 'phone', 'docs'] // the other pages need the operator's sign-in
export const allPlaces: readonly SitePlace[] = ['shop', 'phone', 'inbox', 'support', 'docs']

export function linkIn({ inUrl, framed }: PageLanguage, path: string): string {
  const search = [inUrl && `lang=${inUrl}`, framed && 'framed=1'].filter(Boolean).join('&')
  return search ? `${path}?${search}` : path
}

type PageProps = PropsWithChildren<{ language: PageLanguage; title: string }>
type SandboxPageProps = PageProps & {
  current?: SitePlace
  class?: string // of the main part
}

// The frame of every page of the simulated provider.
export const SandboxPage = ({ language, title, current, children, ...rest }: SandboxPageProps) => {
  const { lang, t, places, framed } = language
  return (
    <PageFrame
      lang={lang}
      dir={t.dir}
      title={title}
      styles={['/sandbox/public/sandbox.css']}
      bodyClass={framed ? 'framed' : undefined}
      header={
        !framed && (
          <>
            <p class="test">{t.sandbox.banner}</p>
            <SiteHeader places={places} current={current} texts={t.site} />
          </>
        )
      }
    >
      <main class={`page ${rest.class ?? 'narrow'}`}>{children}</main>
    </PageFrame>
  )
}

// A page with a single statement. `back` is the address of the checkout.
export const StatementPage = ({ language, title, children, back }: PageProps & { back?: string }) => (
  <SandboxPage language={language} title={title}>
    <section class="card roomy">
      <h1>{title}</h1>
      {children}
      {back && !language.framed && <BackToCheckout language={language} address={back} />}
    </section>
  </SandboxPage>
)

export const BackToCheckout = ({ language, address }: { language: PageLanguage; address: string }) => (
  <a class="btn wide" href={address}>
    {language.t.sandbox.back}
  </a>
)

export const sendSandboxPage = (c: Context, page: Markup, http: ContentfulStatusCode = 200) =>
  c.html(page, http, c.req.path.startsWith('/sandbox/phone/') ? phoneHeaders : headers)

// With the headers of a page: a redirect without the opener policy would cut a window from the shop that opened it.
export const sandboxRedirect = (c: Context, url: string) => c.body(null, 303, { ...headers, location: url })

export const chargeMoney = ({ amount, currency }: Pick<Charge, 'amount' | 'currency'>, { t }: PageLanguage) =>
  localizedMoney(amount, currency, t.locale)

type Trouble = 'lost' | 'broken' | 'too_large'

function troublePage(c: Context, trouble: Trouble, http: 404 | 413 | 500 | 503) {
  const language = languageOf(c)
  const { sandbox } = language.t
  const page = (
    <StatementPage language={language} title={sandbox[trouble]}>
      <p>{sandbox[`${trouble}_text`]}</p>
    </StatementPage>
  )
  return sendSandboxPage(c, page, http)
}

export const notFoundPage = (c: Context) => troublePage(c, 'lost', 404)
export const sandboxBrokenPage = (c: Context, http: 500 | 503) => troublePage(c, 'broken', http)

// The answer to a form that another site sent. The link opens the page of the charge.
function foreignFormPage(c: Context) {
  const language = languageOf(c)
  const { trouble } = language.t
  const [, , page = '', reference = ''] = c.req.path.split('/')
  const statement = (
    <StatementPage language={language} title={trouble.elsewhere}>
      <p>{trouble.elsewhere_text}</p>
      <a class="btn wide" href={linkIn(language, `/sandbox/${page}/${reference}`)}>
        {trouble.open}
      </a>
    </StatementPage>
  )
  return sendSandboxPage(c, statement, 403)
}

// The dependencies of all routes of the simulated provider.
export type SandboxContext = {
  db: Db
  clock: () => Date
  key: string
  formKey: Buffer
  baseUrl: string
  timeScale: number
  callbacks: Callbacks
  isForThisMachineOnly: boolean // nobody else can open the pages
}

export type SandboxEnv = { Bindings: HttpBindings }

const maxFormBytes = 4096

type Answer = (c: Context) => Response | Promise<Response>

// Reading the body throws only if the client disconnects, which is no bug. Errors of the handlers are not caught here:
// `onError` of the sandbox handles them.
export function limitBody(maxSize: number, onError: Answer): MiddlewareHandler {
  const limit = bodyLimit({ maxSize, onError })
  return async (c, next) => {
    try {
      return await limit(c, next)
    } catch {
      return c.body(null, 400)
    }
  }
}

type FormKeys = Pick<SandboxContext, 'formKey' | 'baseUrl'>

export const tokenFor = ({ formKey }: FormKeys, reference: string) =>
  formTokenOf(formKey, ['sandbox', reference])

// The middleware of every route that takes a form. It limits the body and refuses a form of another site.
export const ownForms = (keys: FormKeys): [MiddlewareHandler<SandboxEnv>, MiddlewareHandler<SandboxEnv>] => [
  limitBody(maxFormBytes, c => troublePage(c, 'too_large', 413)),
  async (c, next) => ((await isOwn(c, keys)) ? next() : foreignFormPage(c)),
]

async function isOwn(c: Context, keys: FormKeys): Promise<boolean> {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map(name => c.req.header(name))
  const sender = formSender({ site, origin, host }, keys.baseUrl)
  if (sender !== 'unproven') return sender === 'own_page'
  const sent = await readForm(c, [formTokenField])
  return isFormToken(tokenFor(keys, c.req.param('ref') ?? ''), sent[formTokenField])
}

// The trimmed texts of a submitted form. A missing field is empty.
export async function readForm<Name extends string>(c: Context, names: readonly Name[]) {
  const body: Record<string, unknown> = await c.req.parseBody().catch(() => ({}))
  const texts = names.map(name => [name, typeof body[name] === 'string' ? body[name].trim() : ''])
  return Object.fromEntries(texts) as Record<Name, string>
}
