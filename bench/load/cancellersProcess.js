// Customers who cancel, and their shops, in a separate process: N at once, each on its own connection.
// Each takes the next stored payment, may look at its page, and cancels it; it is counted when the shop was notified.
import { serveJobs, startClock } from './clock.js'
import { openConnection } from './connection.js'
import { answerOf, forget, told } from './ownShops.js'
import { formRequest, pageRequest } from '../rows/payments.js'

serveJobs(job => (answerOf[job.asked] ?? cancelAll)(job))

async function cancelAll(job) {
  forget()
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.port)),
  )
  const clock = startClock(job)
  let begun = 0
  const run = async connection => {
    while (!clock.isOver()) {
      if (begun === job.payments.length) return clock.stop()
      const started = performance.now()
      await cancelOne(connection, job.payments[begun++], job.isPageSeen)
      clock.record(started)
    }
  }
  try {
    await Promise.all(connections.map(run))
    return { ...(await clock.result()), begun }
  } finally {
    clock.cancel()
    for (const connection of connections) connection.close()
  }
}

// The form as the page that asks once more has it: it says nothing but where it goes.
async function cancelOne(connection, { page, id }, isPageSeen) {
  if (isPageSeen) await connection.ask(pageRequest(page))
  await connection.ask(formRequest({ action: `${page}/cancel`, fields: [] }), '303')
  await told(id)
}
