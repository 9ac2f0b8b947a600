import { type Lang, languages } from '../../../core/languages/languages.ts'
import { Page } from './page.tsx'

type TroubleProps = {
  lang: Lang
  title: string
  words: string
  open?: string
  openWords?: string
  requestId?: string
}

// The pages that show no payment.
const Trouble = ({ lang, title, words, open, openWords, requestId }: TroubleProps) => (
  <Page title={title} lang={lang} inLang={other => `?lang=${other}`} requestId={requestId}>
    <section class="card warn">
      <h1>{title}</h1>
      <p>{words}</p>
    </section>
    {open && (
      <p>
        <a class="button" href={open}>
          {openWords ?? languages[lang].trouble.open}
        </a>
      </p>
    )}
  </Page>
)

type LangProps = { lang: Lang; open?: string }
const wordsOf = (lang: Lang) => languages[lang].trouble

export const UnreachablePage = ({ lang }: LangProps) => (
  <Trouble lang={lang} title={wordsOf(lang).unreachable} words={wordsOf(lang).unreachable_words} />
)

export const BusyPage = ({ lang }: LangProps) => (
  <Trouble lang={lang} title={wordsOf(lang).busy} words={wordsOf(lang).busy_words} />
)

export const TooBusyPage = ({ lang }: LangProps) => (
  <Trouble lang={lang} title={wordsOf(lang).busy} words={wordsOf(lang).too_busy_words} />
)

export const NoPaymentPage = ({ lang }: LangProps) => (
  <Trouble lang={lang} title={wordsOf(lang).no_payment} words={wordsOf(lang).no_payment_words} />
)

// Of an address that is none at all, whoever asked for it.
export const NothingHerePage = ({ lang }: LangProps) => (
  <Trouble
    lang={lang}
    title={wordsOf(lang).nothing_here}
    words={wordsOf(lang).nothing_here_words}
    open={`/?lang=${lang}`}
    openWords={languages[lang].home.go}
  />
)

export const ElsewherePage = ({ lang, open }: LangProps) => (
  <Trouble lang={lang} title={wordsOf(lang).elsewhere} words={wordsOf(lang).elsewhere_words} open={open} />
)

export const BrokenPage = ({ lang, requestId }: { lang: Lang; requestId: string }) => (
  <Trouble
    lang={lang}
    title={wordsOf(lang).broken}
    words={wordsOf(lang).broken_words}
    requestId={requestId}
  />
)

export const UnreadablePage = ({ lang, open }: LangProps) => (
  <Trouble lang={lang} title={wordsOf(lang).unreadable} words={wordsOf(lang).unreadable_words} open={open} />
)
