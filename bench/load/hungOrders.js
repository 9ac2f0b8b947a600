// Customers whose orders go to a provider that says nothing. They do not wait for it.

import { formRequest, initiationRequest, pageRequest } from '../rows/payments.js'
import { openConnection, readAnswer } from './connection.js'
import { formOf } from './form.js'

let series = 0

// Done when each has been sent.
export async function hangOrders({ port, merchant }, count) {
  const round = `H${++series}`
  const order = async (_, n) => {
    const connection = await openConnection(port)
    try {
      const number = `024${1000 + n}001`
      const initiated = await connection.ask(initiationRequest(merchant, round, n, { number }))
      const { checkout_url } = JSON.parse(readAnswer(initiated).text)
      const page = await connection.ask(pageRequest(new URL(checkout_url).pathname))
      await connection.ask(formRequest(formOf(readAnswer(page).text, '/pay')), '303')
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: count }, order))
}
