import type { Texts } from '../../../core/languages/en.ts'
import { raw } from '../../../core/markup/jsx-runtime.ts'
import type { View } from '../page/view.ts'
import { isPlayed } from './testEndings.tsx'

const drawn = new Map<Texts, string>()

// What the sandbox does with which number, where it is the sandbox that plays. It holds our own words alone and is most
// of a page, so it is drawn once per language.
export const TestTables = ({ view }: { view: View }) => {
  if (!isPlayed(view)) return null
  const { t } = view
  const known = drawn.get(t) ?? (<Tables t={t} />).toString()
  drawn.set(t, known)
  return raw(known)
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
      {Object.entries(rows).map(([number, words]) => (
        <tr>
          <th scope="row">{number}</th>
          <td>{words}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
