import type { Texts } from './texts.ts'

// What the sandbox does with which number. Test mode only.
export const TestTables = ({ t: { test } }: { t: Texts }) => (
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
