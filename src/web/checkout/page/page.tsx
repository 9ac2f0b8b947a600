import { raw } from 'hono/html'
import type { Child, PropsWithChildren } from 'hono/jsx'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import type { Face } from '../../../core/merchant/face.ts'
import { fill } from '../../../core/text.ts'
import { accentAddress, assets } from './assets.ts'
import { Contact, Mark } from './face.tsx'

export type PageProps = PropsWithChildren<{
  title: string
  lang: Lang
  inLang?: (lang: Lang) => string // the address of this page in another language
  form?: string // the id of a form that goes there with what was typed
  test?: boolean
  shop?: string
  face?: Face // of the shop
  bill?: Child // what is paid: it has a column of its own on a desk
  reference?: string
  requestId?: string
  refresh?: { seconds: number; url: string } // for a browser without scripts
  script?: Record<`data-${string}`, string | number | undefined> // what the script has to know; without it there is none
}>

// The frame of every page that a customer sees.
export const Page = (props: PageProps) => {
  const t = languages[props.lang]
  return (
    <>
      {raw('<!doctype html>')}
      <html lang={props.lang} dir={t.dir}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="robots" content="noindex" />
          <title>{props.title}</title>
          <link rel="stylesheet" href={assets.css} />
          {props.face?.accent && <link rel="stylesheet" href={accentAddress(props.face.accent)} />}
          <link rel="icon" href={assets.icon} />
          {props.script && <script src={assets.script} defer></script>}
          {props.refresh && <Refresh {...props.refresh} />}
        </head>
        <body class={props.bill ? 'desk' : undefined}>
          {props.script && <p class="status" role="status"></p>}
          <header>
            {props.test && <p class="test">{t.frame.test}</p>}
            <div class="top">
              <strong class="shop">
                {props.shop && <Mark name={props.shop} face={props.face} />}
                {props.shop && <bdi>{props.shop}</bdi>}
              </strong>
              <Languages {...props} />
            </div>
          </header>
          <main {...props.script}>
            {props.bill}
            <div class="stage">{props.children}</div>
          </main>
          <footer>
            {props.bill && <Contact face={props.face} t={t} />}
            <div class="foot">
              {props.reference && <p>{fill(t.frame.reference, { reference: props.reference })}</p>}
              {props.requestId && <p>{fill(t.frame.request, { request: props.requestId })}</p>}
              <p>{t.frame.secured}</p>
            </div>
          </footer>
        </body>
      </html>
    </>
  )
}

// Only where scripts are off: with them the page changes when there is something to see.
const Refresh = ({ seconds, url }: { seconds: number; url: string }) => (
  <noscript>
    <meta http-equiv="refresh" content={`${seconds}; url=${url}`} />
  </noscript>
)

const Languages = ({ lang, inLang, form }: PageProps) =>
  inLang ? (
    <nav aria-label={languages[lang].frame.language}>
      {form && <FirstButton form={form} />}
      {Object.entries(languages).map(
        ([other, { name }]) =>
          other !== lang &&
          (form ? (
            <button type="submit" form={form} formaction={inLang(other as Lang)} class="link" lang={other}>
              {name}
            </button>
          ) : (
            <a href={inLang(other as Lang)} lang={other} hreflang={other}>
              {name}
            </a>
          )),
      )}
    </nav>
  ) : null

// The Enter key presses the first button of a form, wherever that stands: it must not be the one that changes the
// language. Nobody sees or reaches this one.
const FirstButton = ({ form }: { form: string }) => (
  <button type="submit" form={form} class="first" tabindex={-1} aria-hidden="true"></button>
)
