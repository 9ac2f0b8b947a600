import { raw } from 'hono/html'
import type { Texts } from './texts.ts'

const drawn = new Map<Texts, string>()

// What the sandbox does with which number. Test mode only. It holds our own words alone and is most of a page, so it
// is drawn once per language.
export const TestTables = ({ t }: { t: Texts }) => {
  const known = drawn.get(t) ?? (<Tables t={t} />).toString()
  drawn.set(t, known)
  return raw(known)
}

const Tables = ({ t: { test } }: { t: Texts }) => (
  <details class="card">
    <summary>{test.title}</summary>
    <Table head={test.wallets} what={test.what} rows={test.by_wallet} />
    <p class="muted">{test.voucher}</p>
    <Table head={test.cards} what={test.what} rows={test.by_card} />
    <Table head={test.totals} what={test.what} rows={test.by_total} />
  </details>
)

const Table = ({ head, what, rows }: { head: string; what: string; rows: Record<string, string> }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">{head}</th>
        <th scope="col">{what}</th>
      </tr>
    </thead>
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
