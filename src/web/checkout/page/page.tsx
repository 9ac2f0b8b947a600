import type { Texts } from '../../../core/languages/en.ts'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import { type Child, type PropsWithChildren, raw } from '../../../core/markup/jsx-runtime.ts'
import { kept } from '../../../core/markup/kept.ts'
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
  const { lang, test = false, shop, face } = props
  const facts = { lang, test, shop, isDesk: Boolean(props.bill), hasScript: Boolean(props.script), ...face }
  return frame(languages[lang], facts, {
    title: props.title,
    refresh: props.refresh && <Refresh {...props.refresh} />,
    languages: <Languages {...props} />,
    main: (
      <main {...props.script}>
        {props.bill}
        <div class="stage">{props.children}</div>
      </main>
    ),
    names: <Names {...props} />,
  })
}

type FrameFacts = Face & { lang: Lang; test: boolean; shop?: string; isDesk: boolean; hasScript: boolean }

// What is the same on all pages of a shop.
const frame = kept((t: Texts, { lang, test, shop, isDesk, hasScript, ...face }: FrameFacts, gap) => (
  <>
    {raw('<!doctype html>')}
    <html lang={lang} dir={t.dir}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{gap('title')}</title>
        <link rel="stylesheet" href={assets.css} />
        {face.accent && <link rel="stylesheet" href={accentAddress(face.accent)} />}
        <link rel="icon" href={assets.icon} />
        {hasScript && <script src={assets.script} defer></script>}
        {gap('refresh')}
      </head>
      <body class={isDesk ? 'desk' : undefined}>
        {hasScript && <p class="status" role="status"></p>}
        <header>
          {test && <p class="test">{t.frame.test}</p>}
          <div class="top">
            <strong class="shop">
              {shop && <Mark name={shop} face={face} />}
              {shop && <bdi>{shop}</bdi>}
            </strong>
            {gap('languages')}
          </div>
        </header>
        {gap('main')}
        <footer>
          {isDesk && <Contact face={face} t={t} />}
          <div class="foot">
            {gap('names')}
            <p>{t.frame.secured}</p>
          </div>
        </footer>
      </body>
    </html>
  </>
))

const Names = ({ lang, reference, requestId }: PageProps) => {
  const words = languages[lang].frame
  return (
    <>
      {reference && <p>{fill(words.reference, { reference })}</p>}
      {requestId && <p>{fill(words.request, { request: requestId })}</p>}
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
  inLang ? languageLinks(languages[lang], { lang, form }, linksBy(inLang)) : null

const linksBy = (inLang: (lang: Lang) => string) =>
  Object.fromEntries(langs.map(other => [other, inLang(other)]))

const langs = Object.keys(languages) as Lang[]

const languageLinks = kept((t: Texts, { lang, form }: { lang: Lang; form?: string }, gap) => (
  <nav aria-label={t.frame.language}>
    {form && <FirstButton form={form} />}
    {langs.map(
      other =>
        other !== lang &&
        (form ? (
          <button type="submit" form={form} formaction={gap(other)} class="link" lang={other}>
            {languages[other].name}
          </button>
        ) : (
          <a href={gap(other)} lang={other} hreflang={other}>
            {languages[other].name}
          </a>
        )),
    )}
  </nav>
))

// The Enter key presses the first button of a form, wherever that stands: it must not be the one that changes the
// language. Nobody sees or reaches this one.
const FirstButton = ({ form }: { form: string }) => (
  <button type="submit" form={form} class="first" tabindex={-1} aria-hidden="true"></button>
)
