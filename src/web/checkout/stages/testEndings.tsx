import type { Texts } from '../../../core/languages/en.ts'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import { cachedFragment } from '../../../core/markup/fragmentCache.ts'
import { raw } from '../../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import type { TestEnding } from '../../../core/provider/paymentMethod.ts'
import type { AvailableMethod } from '../../../runtime/providers/availableMethods.ts'
import { linkTo, type View } from '../view.ts'
import { fieldName } from './form.ts'

// One button for each outcome of a test payment. Each submits the ordinary form for the attempt that the page was
// rendered for, so two clicks make one attempt. Only the sandbox defines such outcomes.
export const TestEndings = ({ view }: { view: View }) => {
  const { checkout, lang } = view
  if (!isSandboxed(view)) return null
  return endings(
    checkout.methods,
    { lang },
    { action: linkTo(view, '/pay'), number: checkout.attempts.length + 1, token: view.formToken },
  )
}

// Whether the sandbox handles the payment. There the input decides the outcome.
const isSandboxed = ({ checkout: { mode, methods } }: View) =>
  mode === 'test' && methods.some(({ testEndings }) => testEndings)

const endings = cachedFragment((methods: readonly AvailableMethod[], { lang }: { lang: Lang }, gap) => {
  const t: Texts = languages[lang]
  const all = methods.flatMap(({ testEndings = [] }) => testEndings)
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
  const { name, payment_method, input } = ending
  return (
    <form method="post" action={action} data-busy={t.frame.one_moment}>
      <FormToken token={token} />
      <input type="hidden" name="number" value={number} />
      <input type="hidden" name="payment_method" value={payment_method} />
      {Object.entries(input).map(([field, text]) => (
        <input type="hidden" name={fieldName(payment_method, field)} value={text} />
      ))}
      <button type="submit" class="chip">
        {t.test.endings[name]}
      </button>
    </form>
  )
}

const rendered = new Map<Texts, string>()

// The tables of test numbers and their outcomes. They are most of the page and the same for all payments, so they are
// rendered once per language.
export const TestTables = ({ view }: { view: View }) => {
  if (!isSandboxed(view)) return null
  const { t } = view
  const html = rendered.get(t) ?? (<Tables t={t} />).toString()
  rendered.set(t, html)
  return raw(html)
}

const Tables = ({ t: { test } }: { t: Texts }) => (
  <details class="card">
    <summary>{test.title}</summary>
    <Table head={test.wallets} rows={test.by_wallet} />
    <p class="muted">{test.voucher}</p>
    <Table head={test.cards} rows={test.by_card} />
    <Table head={test.totals} rows={test.by_total} />
  </details>
)

const Table = ({ head, rows }: { head: string; rows: Record<string, string> }) => (
  <table>
    <caption>{head}</caption>
    <tbody>
      {Object.entries(rows).map(([number, outcome]) => (
        <tr>
          <th scope="row">{number}</th>
          <td>{outcome}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
