// Customers who pay, and their shops, in a separate process: N at once, each on its own connection and one
// payment after the other. When its shop was notified, the shop sends one status check; then it is counted.
// Its clock starts with the click on the page.
import { setTimeout as sleep } from 'node:timers/promises'
import { serveJobs, startClock } from './clock.js'
import { formOf } from './form.js'
import { openConnection, readAnswer } from './connection.js'
import { answerOf, forget, told } from './ownShops.js'
import { formRequest, initiationRequest, newInvoice, pageRequest, statusRequest } from '../rows/payments.js'

const arrivalGapMs = 10

serveJobs(job => (answerOf[job.asked] ?? payAll)(job))

async function payAll(job) {
  forget()
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.port)),
  )
  let clock
  let newcomers = connections.length
  let begun = 0
  // They come one by one and not all at once, or they would go on in step. The clock waits until everyone has
  // paid once: from then on as many payments end as begin.
  const run = async (connection, at) => {
    await sleep(at * arrivalGapMs)
    for (let isNew = true; !clock?.isOver(); isNew = false) {
      const clicked = await payOnce(connection, job, begun++)
      if (isNew && --newcomers === 0) clock = startClock(job)
      clock?.record(clicked)
    }
  }
  try {
    await Promise.all(connections.map(run))
    return { ...(await clock.result()), begun }
  } finally {
    clock?.cancel()
    for (const connection of connections) connection.close()
  }
}

// Returns when the customer clicked.
async function payOnce(connection, { shops, series, ends }, n) {
  const { caller, ipn_url } = shops[n % shops.length]
  const initiated = await connection.ask(
    initiationRequest(caller, series, n, { ipn_url, ...customerOf(n, ends) }),
  )
  const { tx_reference, checkout_url } = JSON.parse(readAnswer(initiated).text)
  const page = await connection.ask(pageRequest(new URL(checkout_url).pathname))
  const form = formRequest(formOf(readAnswer(page).text, '/pay'))
  const clicked = performance.now()
  await connection.ask(form, '303')
  await told(`${tx_reference}-N1`)
  const asked = await connection.ask(statusRequest(caller, newInvoice(series, n)))
  const { status } = JSON.parse(readAnswer(asked).text)
  if (status !== 'paid') throw new Error(`The shop was told, and the payment is ${status}.`)
  return clicked
}

// Each payment is another person's. Where the number has to end in a certain way, there are fewer of them.
const customerOf = (n, ends) => ({
  number: ends ? `024${1000 + (n % 9000)}${ends}` : `024${String(1_000_000 + (n % 9_000_000))}`,
  email: `customer${n}@mail.example`,
})
