import type { Texts } from '../../../core/languages/en.ts'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import { cachedFragment } from '../../../core/markup/fragmentCache.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import type { TestEnding } from '../../../core/provider/paymentMethod.ts'
import type { AvailableMethod } from '../../../runtime/providers/availableMethods.ts'
import { linkTo, methodName, type View } from '../view.ts'
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
      <button type="submit" class="chip try">
        {t.test.endings[name]}
      </button>
    </form>
  )
}

// The test numbers and their outcomes, of the providers that serve the methods of this payment.
export const TestTables = ({ view: { checkout, lang } }: { view: View }) =>
  checkout.mode === 'test' ? tables(checkout.methods, { lang }, {}) : null

// The tables are most of the page and the same for all payments, so they are cached.
const tables = cachedFragment((methods: readonly AvailableMethod[], { lang }: { lang: Lang }) => {
  const t: Texts = languages[lang]
  const { test } = t
  const simulated = methods.filter(({ testEndings }) => testEndings)
  const asks = (field: string) => simulated.some(({ fields }) => fields.some(({ name }) => name === field))
  const others = methods.filter(({ testEndings, testNumbers }) => !testEndings && testNumbers)
  if (simulated.length === 0 && others.length === 0) return null
  return (
    <details class="card tables">
      <summary>{test.title}</summary>
      {others.map(method => (
        <Table head={methodName(method, t)} rows={outcomesOf(method, t)} />
      ))}
      {asks('phone') && <Table head={test.wallets} rows={test.by_wallet} />}
      {asks('voucher_code') && <p class="muted">{test.voucher}</p>}
      {simulated.some(({ next }) => next === 'redirect') && <Table head={test.cards} rows={test.by_card} />}
      {simulated.length > 0 && <Table head={test.totals} rows={test.by_total} />}
    </details>
  )
})

const outcomesOf = ({ testNumbers = {} }: AvailableMethod, { test }: Texts) =>
  Object.fromEntries(Object.entries(testNumbers).map(([number, ending]) => [number, test.endings[ending]]))

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
