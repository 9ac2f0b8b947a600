import type { TestEnding } from '../../../core/channel/way.ts'
import type { Texts } from '../../../core/languages/en.ts'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import { kept } from '../../../core/markup/kept.ts'
import type { Offer } from '../../../runtime/channels.ts'
import { FormToken } from '../../http/formToken.tsx'
import { linkTo, type View } from '../page/view.ts'
import { fieldOf } from './form.ts'

// Every ending of a test payment for one tap. Each is the ordinary form, filled in: it starts the attempt that the page
// was made for, so two taps are one attempt. Only a channel that plays brings any.
export const TestEndings = ({ view }: { view: View }) => {
  const { checkout, lang } = view
  if (!isPlayed(view)) return null
  return endings(
    checkout.offers,
    { lang },
    { action: linkTo(view, '/pay'), number: checkout.attempts.length + 1, token: view.formToken },
  )
}

// Whether what is typed decides what becomes of it.
export const isPlayed = ({ checkout: { mode, offers } }: View) =>
  mode === 'test' && offers.some(({ testEndings }) => testEndings)

const endings = kept((offers: readonly Offer[], { lang }: { lang: Lang }, gap) => {
  const t: Texts = languages[lang]
  const all = offers.flatMap(({ testEndings = [] }) => testEndings)
  return all.length === 0 ? null : (
    <section class="endings" aria-labelledby="endings">
      <h2 id="endings">{t.test.try}</h2>
      <ul>
        {all.map(ending => (
          <li>
            <Ending
              t={t}
              ending={ending}
              action={gap('action')}
              number={gap('number')}
              token={gap('token')}
            />
          </li>
        ))}
      </ul>
    </section>
  )
})

type EndingProps = { t: Texts; ending: TestEnding; action: string; number: string; token: string }

const Ending = ({ t, ending, action, number, token }: EndingProps) => {
  const { name, payment_method, typed } = ending
  return (
    <form method="post" action={action} data-busy={t.frame.one_moment}>
      <FormToken token={token} />
      <input type="hidden" name="number" value={number} />
      <input type="hidden" name="payment_method" value={payment_method} />
      {Object.entries(typed).map(([field, text]) => (
        <input type="hidden" name={fieldOf(payment_method, field)} value={text} />
      ))}
      <button type="submit" class="chip">
        {t.test.endings[name]}
      </button>
    </form>
  )
}
