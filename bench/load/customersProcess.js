// Customers who pay, in a process of its own: N at once, each on a connection of its own and one payment after
// the other. A payment is counted when the merchant's status check says that it is paid; its clock starts with
// the click on the page.
import { setTimeout as sleep } from 'node:timers/promises'
import { serveJobs, startClock } from './clock.js'
import { formOf } from './form.js'
import { openConnection, readAnswer } from './connection.js'
import { formRequest, initiationRequest, newInvoice, pageRequest, statusRequest } from '../rows/payments.js'

const providerMs = 600 // the simulated provider's own time: there is nothing to ask about before
const arrivalGapMs = 10
const mostAsked = 800 // status checks a second of all together: what is measured is not the asking
const leastGapMs = 50
const patienceMs = 60_000 // for one payment

serveJobs(async job => {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.port)),
  )
  const gapMs = Math.max(leastGapMs, (job.connections * 1000) / mostAsked)
  let clock
  let newcomers = connections.length
  let begun = 0
  // They come one by one and not all at once, or they would go on in step. The clock waits until everyone has
  // paid once: from then on as many payments end as begin.
  const run = async (connection, at) => {
    await sleep(at * arrivalGapMs)
    for (let isNew = true; !clock?.isOver(); isNew = false) {
      const clicked = await payOnce(connection, { ...job, gapMs }, begun++)
      if (isNew && --newcomers === 0) clock = startClock(job)
      clock?.record(clicked)
    }
  }
  try {
    await Promise.all(connections.map(run))
    return { ...(await clock.result()), begun }
  } finally {
    for (const connection of connections) connection.close()
  }
})

// Gives back when the customer clicked.
async function payOnce(connection, { merchant, series, gapMs }, n) {
  const initiated = await connection.ask(initiationRequest(merchant, series, n))
  const { checkout_url } = JSON.parse(readAnswer(initiated).text)
  const page = await connection.ask(pageRequest(new URL(checkout_url).pathname))
  const form = formRequest(formOf(readAnswer(page).text, '/pay'))
  const clicked = performance.now()
  await connection.ask(form, '303')
  await sleep(clicked + providerMs - performance.now())
  const question = statusRequest(merchant, newInvoice(series, n))
  while (!(await isPaid(connection, question))) {
    if (performance.now() - clicked > patienceMs) throw new Error('A payment was not paid in time.')
    await sleep(gapMs)
  }
  return clicked
}

async function isPaid(connection, question) {
  const { status } = JSON.parse(readAnswer(await connection.ask(question)).text)
  if (status !== 'paid' && status !== 'awaiting_payment') throw new Error(`A payment ended as ${status}.`)
  return status === 'paid'
}
