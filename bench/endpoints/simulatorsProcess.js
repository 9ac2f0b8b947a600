// The simulators of MTN and Paystack, in a separate process. Customers approve after a while, as in the sandbox.
// They are TypeScript, which Node 20 does not read by itself.
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { answerAll } from './answering.js'

const payMs = 600
const lookMs = 50
const secretKey = 'sk_test_bench'

/** @type {(file: string) => Promise<any>} */
const load = async file => {
  const path = fileURLToPath(new URL(`../../test/simulators/${file}.ts`, import.meta.url))
  return (await runnerImport(path, { configFile: false, logLevel: 'error' })).module
}
/** @typedef {typeof import('../../test/simulators/mtn/mtn.ts')} MtnModule */
/** @typedef {typeof import('../../test/simulators/paystack/paystack.ts')} PaystackModule */
/** @type {[MtnModule, PaystackModule]} */
const [{ openMtn, mtnCredentials }, { openPaystack }] = await Promise.all([
  load('mtn/mtn'),
  load('paystack/paystack'),
])

/** @type {{ mtn: Awaited<ReturnType<typeof openMtn>>, paystack: Awaited<ReturnType<typeof openPaystack>> }} */
const simulators = Object()
const seen = new Map() // when a prompt was first seen
let before = { mtn: 0, paystack: 0 }

async function open() {
  simulators.mtn = await openMtn({ environment: 'sandbox' })
  simulators.mtn.rule({ story: {} })
  simulators.paystack = await openPaystack({ secretKey, promptMs: 3_600_000 })
  simulators.paystack.rule({ story: { ends: 'success', afterMs: payMs } })
  setInterval(payMtn, lookMs).unref()
  return {
    mtn: {
      MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
      MTN_API_USER: mtnCredentials.apiUser,
      MTN_API_KEY: mtnCredentials.apiKey,
      MTN_URL: simulators.mtn.url,
      MTN_CALLBACKS: 'on',
    },
    paystack: { PAYSTACK_SECRET_KEY: secretKey, PAYSTACK_URL: simulators.paystack.url },
  }
}

function payMtn() {
  const now = performance.now()
  for (const key of simulators.mtn.open()) {
    if (!seen.has(key)) seen.set(key, now)
    if (now - seen.get(key) < payMs) continue
    seen.delete(key)
    void simulators.mtn.approve(key)
  }
}

const books = {
  mtn: () => simulators.mtn.book().map(({ isPaid }) => isPaid),
  paystack: () => simulators.paystack.book().map(({ ended }) => ended === 'success'),
}

// Of one of them, since the last time that it was forgotten. An order that came twice would be refused, and not be here.
function count(name) {
  const since = books[name]().slice(before[name])
  return { orders: since.length, charged: since.filter(Boolean).length, sentAgain: 0, asks: 0 }
}

const forget = name => void (before[name] = books[name]().length)

// Paystack takes what it is asked for, and says nothing.
const hang = isSo =>
  void (simulators.paystack.weather = isSo ? { trouble: 'silence', hasTaken: true } : undefined)

const sendWebhooksTo = url => simulators.paystack.settings({ webhook_url: url })

answerAll({ open, count, forget, hang, sendWebhooksTo })
