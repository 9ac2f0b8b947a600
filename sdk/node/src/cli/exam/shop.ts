import { randomBytes } from 'node:crypto'
import { sleep } from '../../transport.ts'
import { notificationOf, refundNotificationOf, type TestRefund } from '../../testing.ts'
import type { PaymentStatus } from '../../payment.ts'
import { CommandError, type Io } from '../command.ts'
import type { Credentials } from '../credentials.ts'
import { deliver, deliveryHeaders, type HandlerAnswer } from '../delivery.ts'
import type { ExamGateway, ExamPayment } from './gateway.ts'

export type OrderState = { status: string; deliveries: number }

// What the exam notifies the shop of. Without changes it is the payment as the gateway has it.
export type Notice = {
  status?: PaymentStatus
  sequence?: number
  total?: string
  currency?: string
  sentAt?: Date
  more?: object
  refund?: TestRefund // a notification of this refund instead, which has no status
}

// The shop under examination: its endpoint for notifications, and the one by which the exam creates and reads orders.
export type ExaminedShop = {
  newPayment(changed?: Partial<ExamPayment>): ExamPayment // stored at the gateway of the exam, awaiting payment
  createOrder(payment: ExamPayment, total?: string): Promise<void>
  newOrder(changed?: Partial<ExamPayment>): Promise<ExamPayment> // both
  read(payment: ExamPayment): Promise<OrderState>
  // The state when the order has been delivered that often, or after a while.
  settled(payment: ExamPayment, deliveries: number): Promise<OrderState>
  bodyOf(payment: ExamPayment, notice?: Notice): string
  notify(payment: ExamPayment, notice?: Notice, ipnSecret?: string): Promise<HandlerAnswer>
  // As the gateway does: again and again until the answer is 200. The answer is the last one.
  notifyUntilAcknowledged(payment: ExamPayment, notice?: Notice): Promise<HandlerAnswer>
}

const quietMs = 400 // how long a wrong delivery may take to be seen
const settleMs = 5000 // how long a right delivery may take
const askMs = 30_000
const redeliveries = 6
const examTotal = '25.00'

const bodyOf: ExaminedShop['bodyOf'] = (payment, { status, total, currency, more, refund } = {}) => {
  if (refund) return JSON.stringify(refundNotificationOf(payment, refund))
  return JSON.stringify({
    ...notificationOf({
      ...payment,
      total: total ?? payment.total,
      currency: currency ?? payment.currency,
      status: status ?? payment.status,
    }),
    ...more,
  })
}

export function examinedShop(
  gateway: ExamGateway,
  {
    credentials,
    ipnUrl,
    ordersUrl,
    io,
  }: { credentials: Credentials & { ipnSecret: string }; ipnUrl: string; ordersUrl: string; io: Io },
): ExaminedShop {
  const { ipnSecret } = credentials
  const run = randomBytes(3).toString('hex')
  let counted = 0

  const newPayment: ExaminedShop['newPayment'] = changed => {
    const invoiceId = `EXAM-${run}-${++counted}`
    const payment: ExamPayment = {
      invoiceId,
      total: examTotal,
      currency: 'GHS',
      status: 'awaiting_payment',
      reference: `TG-EXAM-${invoiceId}`,
      ...changed,
    }
    gateway.payments.set(invoiceId, payment)
    return payment
  }

  async function ask(question: Record<string, string>): Promise<Response> {
    const body = JSON.stringify(question)
    const headers = await deliveryHeaders(
      { id: `exam-${randomBytes(8).toString('hex')}`, sequence: 1, attempt: 1, body },
      ipnSecret,
    )
    const signal = AbortSignal.any([AbortSignal.timeout(askMs), io.signal])
    return fetch(ordersUrl, { method: 'POST', headers, body, signal }).catch(error => {
      throw new CommandError(
        `Your shop does not answer at ${ordersUrl} any more: ${String(error)}. Did it crash?`,
        2,
      )
    })
  }

  const createOrder: ExaminedShop['createOrder'] = async ({ invoiceId, currency }, total = examTotal) => {
    const response = await ask({
      exam: 'create_order',
      invoice_id: invoiceId,
      total,
      currency,
      ipn_url: ipnUrl,
    })
    if (!response.ok) throw unusable(ordersUrl, 'create_order', response.status, await response.text())
  }

  const read: ExaminedShop['read'] = async ({ invoiceId }) => {
    const response = await ask({ exam: 'read_order', invoice_id: invoiceId })
    const text = await response.text()
    const { status, deliveries } = parse(text)
    if (!response.ok || typeof status !== 'string' || typeof deliveries !== 'number')
      throw unusable(ordersUrl, 'read_order', response.status, text)
    return { status, deliveries }
  }

  const deliverTo = (payment: ExamPayment, notice: Notice, attempt: number, secret = ipnSecret) => {
    const { sequence = 1, sentAt } = notice
    const id = `${payment.reference}-N${sequence}`
    const body = bodyOf(payment, notice)
    return deliver(ipnUrl, { id, sequence, attempt, body, ...(sentAt && { sentAt }) }, secret)
  }

  return {
    newPayment,
    createOrder,
    read,
    bodyOf,
    async newOrder(changed) {
      const payment = newPayment(changed)
      await createOrder(payment)
      return payment
    },
    async settled(payment, deliveries) {
      const started = performance.now()
      await sleep(quietMs, io.signal)
      for (;;) {
        const state = await read(payment)
        if (state.deliveries >= deliveries || performance.now() - started > settleMs) return state
        await sleep(200, io.signal)
      }
    },
    notify: (payment, notice = {}, secret) => deliverTo(payment, notice, 1, secret),
    async notifyUntilAcknowledged(payment, notice = {}) {
      for (let attempt = 1; ; attempt++) {
        const answer = await deliverTo(payment, notice, attempt)
        if (answer.http === 200 || attempt === redeliveries) return answer
        await sleep(150 * attempt, io.signal)
      }
    },
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

const unusable = (url: string, what: string, http: number, text: string) =>
  new CommandError(
    `The exam cannot examine your shop: ${what} at ${url} was answered with HTTP ${http}: ${text.slice(0, 300)}\n` +
      'The endpoint must store an order and answer 200, and read it as {"status": "...", "deliveries": 0}. `exam --help` shows it.',
    2,
  )
