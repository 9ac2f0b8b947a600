import type { HandedKeys, readHandover } from '../../../actions/merchants/keyHandover.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { FormToken, NoticeCard } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import { BarePage } from '../frame/frame.tsx'
import type { PublicVisit } from '../route.ts'
import { merchantsTexts } from './merchantsTexts.ts'

type HandoverProps = { visit: PublicVisit; path: string; found: Awaited<ReturnType<typeof readHandover>> }

export const HandoverPage = ({ visit, path, found }: HandoverProps) => {
  const texts = merchantsTexts[visit.lang].handover
  const title = found ? fill(texts.title, { name: found.name }) : texts.wrong
  if (found?.state !== 'waiting') {
    const text = found?.state === 'opened' ? texts.opened : found ? texts.expired : texts.wrong
    return (
      <BarePage lang={visit.lang} title={title}>
        <NoticeCard title={title} tone="warn">
          <p>{text}</p>
        </NoticeCard>
      </BarePage>
    )
  }
  return (
    <BarePage lang={visit.lang} title={title}>
      <section class="card roomy">
        <form method="post" action={path} class="stack">
          <h1>{title}</h1>
          <p>{texts.text}</p>
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn wide">
            {texts.show}
          </button>
        </form>
      </section>
    </BarePage>
  )
}

type HandedProps = { lang: Lang; opened: { name: string; merchant_id: string; keys: HandedKeys } }

export const HandedKeysPage = ({ lang, opened: { name, merchant_id, keys } }: HandedProps) => {
  const texts = merchantsTexts[lang].handover
  const title = fill(texts.title, { name })
  return (
    <BarePage lang={lang} title={title}>
      <p class="notice">{texts.once}</p>
      <section class="card roomy stack">
        <h1>{title}</h1>
        {(['test', 'live'] as const).map(mode => (
          <>
            <h2>{texts[mode]}</h2>
            <dl class="facts">
              <dt>merchant_id</dt>
              <dd>
                <code>{merchant_id}</code>
              </dd>
              {Object.entries(keys[mode]).map(([key, value]) => (
                <>
                  <dt>{key}</dt>
                  <dd>
                    <code>{value}</code>
                  </dd>
                </>
              ))}
            </dl>
          </>
        ))}
        <p>
          <a href="/docs">{texts.docs}</a>
        </p>
      </section>
    </BarePage>
  )
}
