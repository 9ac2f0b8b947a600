// Nothing lost and nothing doubled, counted where it is kept and where it came.
import { query } from './database.js'

// What was acknowledged against what is kept and what came. A payment has one notification, with one id and one text.
export async function countAll({ receiver, dataset }, payments, arrivals) {
  const rows = await query(
    dataset.url,
    `select p.invoice_id, p.merchant_id, p.status, count(n.*)::int as told from payments p
      left join notifications n using (merchant_id, tx_reference) group by 1, 2, 3, p.tx_reference`,
  )
  const kept = new Map(rows.map(row => [key(row), row]))
  const initiated = payments.filter(({ initiatedMs }) => initiatedMs !== undefined)
  const cancelled = payments.filter(({ id }) => id)
  const lost = [
    ...initiated.filter(payment => !kept.has(key(payment))),
    ...cancelled.filter(
      payment => kept.get(key(payment))?.status !== 'cancelled' || !arrivals.has(payment.id),
    ),
  ]
  const { requests, distinct, changed } = await receiver.count()
  const doubled = rows.length - kept.size + rows.filter(row => row.told > 1).length + changed
  return {
    acknowledged: cancelled.length,
    lost: lost.length,
    doubled,
    twice: requests - distinct,
  }
}

const key = ({ merchant_id, invoice_id }) => `${merchant_id} ${invoice_id}`

export const countedText = ({ acknowledged, lost, doubled, twice, refused, refusedThere }) =>
  `${acknowledged} payments acknowledged: ${lost} lost, ${doubled} doubled, ${twice} notifications came twice. ` +
  `${refused} requests were refused at the first node, ${refusedThere} at the paused one.`
