import type { TestEnding } from '../../../core/channel/channel.ts'
import { linkTo, type View } from '../page/view.ts'
import { fieldOf } from './form.ts'

// Every ending of a test payment for one tap. Each is the ordinary form, filled in: it starts the attempt that the page
// was made for, so two taps are one attempt. Only a channel that plays brings any.
export const TestEndings = ({ view }: { view: View }) => {
  const endings = endingsOf(view)
  if (endings.length === 0) return null
  return (
    <section class="endings" aria-labelledby="endings">
      <h2 id="endings">{view.t.test.try}</h2>
      <ul>
        {endings.map(ending => (
          <li>
            <Ending view={view} ending={ending} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const endingsOf = (view: View): TestEnding[] =>
  isPlayed(view) ? view.checkout.offers.flatMap(({ testEndings = [] }) => testEndings) : []

// Whether what is typed decides what becomes of it.
export const isPlayed = ({ checkout: { mode, offers } }: View) =>
  mode === 'test' && offers.some(({ testEndings }) => testEndings)

const Ending = ({ view, ending }: { view: View; ending: TestEnding }) => {
  const { t, checkout } = view
  const { name, payment_method, typed } = ending
  return (
    <form method="post" action={linkTo(view, '/pay')} data-busy={t.frame.one_moment}>
      <input type="hidden" name="number" value={checkout.attempts.length + 1} />
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
