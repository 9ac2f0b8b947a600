import { chosenLang, type Lang, languages, preferredLang } from '../core/languages/languages.ts'
import type { RateLimits } from '../runtime/rateLimits.ts'
import { addressOf, acceptsHtml } from './http/apiRequest.ts'
import { type Ctx, errorContext, respond } from './http/context.ts'
import { isRefusal, notFoundAnswer } from './http/errors.ts'
import { CustomerPage, TroublePage } from './pages/customerPage.tsx'
import { sendPage } from './pages/sendPage.ts'

type HomeOptions = {
  limits: Pick<RateLimits, 'visit'>
  trustedProxies: number
  hasSandbox: boolean
  isForThisMachineOnly: boolean
  shopHome?(c: Ctx): Promise<Response | undefined> // the demo shop, if there is one
}

// The home page is only for browsers. Other clients get a 404. On a gateway with the demo merchant it is a shop.
export const homeRoute = (options: HomeOptions) => (c: Ctx) =>
  answerBrowser(
    c,
    options,
    async lang => (await options.shopHome?.(c)) ?? sendPage(c, <HomePage lang={lang} {...options} />),
  )

// The page of an unknown address.
export const notFoundRoute = (options: HomeOptions) => (c: Ctx) =>
  answerBrowser(c, options, lang => sendPage(c, <TroublePage kind="nothing_here" lang={lang} />, 404))

async function answerBrowser(
  c: Ctx,
  { limits, trustedProxies }: HomeOptions,
  answer: (lang: Lang) => Response | Promise<Response>,
) {
  if (!acceptsHtml(c.req.header('accept'))) return respond(c, notFoundAnswer(errorContext(c)))
  const lang = chosenLang(c.req.query('lang')) ?? preferredLang(c.req.header('accept-language'))
  try {
    limits.visit(addressOf(c.env.incoming, trustedProxies))
    return await answer(lang)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const kind = error.http === 429 ? 'busy' : 'unreachable'
    return sendPage(c, <TroublePage kind={kind} lang={lang} />, error.http, {
      'retry-after': String(error.retryAfterSeconds ?? 1),
    })
  }
}

type HomeProps = { lang: Lang } & Pick<HomeOptions, 'hasSandbox' | 'isForThisMachineOnly'>

// Every payment has its own secret link, so there is no list and no search.
const HomePage = ({ lang, hasSandbox, isForThisMachineOnly }: HomeProps) => {
  const { home } = languages[lang]
  return (
    <CustomerPage title={home.title} lang={lang} inLang={other => `?lang=${other}`}>
      <section class="card">
        <h1>{home.title}</h1>
        <p>{home.text}</p>
        <h2>{home.payer}</h2>
        <p>{home.payer_text}</p>
        <h2>{home.shop}</h2>
        <p>
          {home.shop_text} <a href="/docs">{home.docs}</a>, <a href="/openapi.json">{home.openapi}</a>
        </p>
        <p>{home.keys}</p>
        {hasSandbox && (
          <>
            <h2>{home.test}</h2>
            <p>
              {home.test_text} <a href="/sandbox/phone">{home.phone}</a>
              {isForThisMachineOnly && (
                <>
                  , <a href="/inbox">{home.inbox}</a>, <a href="/support">{home.support}</a>
                </>
              )}
            </p>
          </>
        )}
      </section>
    </CustomerPage>
  )
}
