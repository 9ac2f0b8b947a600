// Tollgate itself on the same endpoints: a gateway as it ships, triggered by the cancel form of a checkout page.
import { formRequest, storedPage } from '../rows/payments.js'
import { paymentOf } from '../rows/dataset.js'

export const accepted = '303'

// `target` has the merchants and urls of a dataset.
export function requestOf(target, endpoint, n) {
  const { merchant_id, tx_reference, id } = paymentOf(target, endpoint, n)
  const page = storedPage({ merchant_id }, Number(tx_reference.replace(/\D/g, '')))
  return { id, bytes: formRequest({ action: `${page}/cancel`, fields: [] }) }
}
