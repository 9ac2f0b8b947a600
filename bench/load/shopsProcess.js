// Shops whose customers cancel, in a separate process: each payment is asked for, then cancelled on its
// page. At a fixed number a second, or as fast as so many connections can.
import { setTimeout as sleep } from 'node:timers/promises'
import { serveJobs } from './clock.js'
import { openConnection, readAnswer } from './connection.js'
import { nowMs } from './moment.js'
import { formRequest, initiationRequest, newInvoice } from '../rows/payments.js'

serveJobs(async job => {
  const free = await Promise.all(Array.from({ length: job.connections }, () => openConnection(job.port)))
  const waiting = []
  const done = []
  // One that finds no connection free waits for it, and its clock runs.
  const live = async n => {
    const cameAt = nowMs()
    const connection = free.pop() ?? (await new Promise(resolve => waiting.push(resolve)))
    const { payment, connection: next } = await askAndCancel(connection, job, n, cameAt)
    done.push(payment)
    const first = waiting.shift()
    if (first) first(next)
    else free.push(next)
  }
  await (job.perSecond ? atPace(live, job) : inTurn(live, job))
  for (const connection of free) connection.close()
  return done
})

async function atPace(live, { perSecond, measureMs }) {
  const began = nowMs()
  const all = Array.from({ length: Math.floor((perSecond * measureMs) / 1000) }, async (_, n) => {
    await sleep(began + (n * 1000) / perSecond - nowMs())
    await live(n)
  })
  await Promise.all(all)
}

async function inTurn(live, { connections, measureMs }) {
  const until = nowMs() + measureMs
  let n = 0
  const run = async () => {
    while (nowMs() < until) await live(n++)
  }
  await Promise.all(Array.from({ length: connections }, run))
}

// What was acknowledged of it, and when. After a refusal the connection is a new one: the old may be closed.
async function askAndCancel(connection, { port, shops, series }, n, cameAt) {
  const { caller, ipn_url } = shops[n % shops.length]
  const payment = { merchant_id: caller.merchant_id, invoice_id: newInvoice(series, n) }
  try {
    const own = { ipn_url, number: undefined, email: undefined }
    const initiated = readAnswer(await connection.ask(initiationRequest(caller, series, n, own))).text
    const { tx_reference, checkout_url } = JSON.parse(initiated)
    payment.initiatedMs = nowMs() - cameAt
    payment.cancelAt = nowMs()
    await connection.ask(
      formRequest({ action: `${new URL(checkout_url).pathname}/cancel`, fields: [] }),
      '303',
    )
    payment.cancelledMs = nowMs() - payment.cancelAt
    payment.id = `${tx_reference}-N1` // of its notification
    return { payment, connection }
  } catch (error) {
    connection.close()
    return { payment: { ...payment, refused: error.message }, connection: await openConnection(port) }
  }
}
