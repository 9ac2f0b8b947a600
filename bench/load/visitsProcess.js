// Customers who open the page of a stored payment and submit its form, in a separate process: some at once, each on a new
// connection, with a pause between two customers. Any status counts, because the gateway may be overloaded.
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile, sorted } from '../report/figures.js'
import { formRequest, pageRequest, storedPage } from '../rows/payments.js'
import { serveJobs, startClock } from './clock.js'
import { anyStatus, openConnection, readAnswer } from './connection.js'
import { formOf } from './form.js'

serveJobs(async job => {
  const clock = startClock(job)
  const steps = { pageMs: [], payMs: [], refused: 0 }
  let next = job.firstPayment
  const run = async at => {
    await sleep((at * job.pauseMs) / job.customers)
    while (!clock.isOver()) {
      const began = performance.now()
      await visit(job, next++, steps).catch(() => steps.refused++)
      clock.record(began)
      await sleep(job.pauseMs)
    }
  }
  try {
    await Promise.all(Array.from({ length: job.customers }, (_, at) => run(at)))
    return {
      ...(await clock.result()),
      pageP99: p99(steps.pageMs),
      payP99: p99(steps.payMs),
      refused: steps.refused,
      next,
    }
  } finally {
    clock.cancel()
  }
})

async function visit({ port, merchant }, n, steps) {
  const connection = await openConnection(port)
  try {
    const began = performance.now()
    const page = await connection.ask(pageRequest(storedPage(merchant, n)), anyStatus)
    steps.pageMs.push(performance.now() - began)
    if (statusOf(page) !== '200') throw new Error('The page was refused.')
    const form = formRequest(formOf(readAnswer(page).text, '/pay'))
    const clicked = performance.now()
    const paid = await connection.ask(form, anyStatus)
    steps.payMs.push(performance.now() - clicked)
    if (statusOf(paid) !== '303') throw new Error('The form was refused.')
  } finally {
    connection.close()
  }
}

const p99 = list => (list.length > 0 ? quantile(sorted(list), 0.99) : 0)

const statusOf = answer => answer.latin1Slice(9, 12)
