import paystack from '../../src/providers/paystack.ts'
import type { Order } from '../../src/core/provider/order.ts'
import type { RefundOrder } from '../../src/core/provider/refundOrder.ts'
import type { PaymentMethod } from '../../src/core/provider/paymentMethod.ts'
import type { Webhook } from '../../src/core/provider/webhook.ts'
import { openPaystack } from '../simulators/paystack/paystack.ts'
import { conformance } from './conformance.ts'
import { openLine } from './client.ts'
import { secretKey, sign } from './paystack/context.ts'
import type { Bench } from './stories/stage.ts'

const settings = { secret_key: secretKey, url: 'http://127.0.0.1:1' }

async function openBench(): Promise<Bench> {
  const played = await openPaystack({ secretKey })
  played.refundRule({ story: { ends: 'never' } }) // it waits
  const made = ({ charge, refund_reference }: RefundOrder) =>
    played
      .book()
      .filter(({ reference }) => reference === charge.idempotency_key)
      .flatMap(({ refunds }) => refunds.filter(({ note }) => note === refund_reference))
  const move = async (refund: RefundOrder, status: 'processed' | 'failed') => {
    const { idempotency_key } = refund.charge
    for (const { id } of made(refund)) await played.refund({ idempotency_key, id, status })
  }
  return {
    newLine: () => openLine(played.url),
    settings: url => ({ ...settings, url }),
    given: givenFor,
    told: { email: 'kofi@example.test' },
    approve: async order => played.approve(order),
    decline: async order => played.decline(order),
    charges: async ({ idempotency_key: key }) =>
      played.book().filter(({ reference }) => reference === key).length,
    unknownCode: text => change(text, { status: 'successfully_failed' }),
    otherAmount: (text, amount) => change(text, { amount: amount === '26.00' ? 2600 : amount }),
    otherOrder: text => change(text, { reference: 'm0m0m0m0m0another' }),
    steps: {
      given: method => (method.payment_method === 'telecel_cash' ? givenFor(method) : undefined),
      wrong: { voucher_code: '000000' },
      right: { voucher_code: '123456' },
    },
    refunds: {
      finish: refund => move(refund, 'processed'),
      fail: refund => move(refund, 'failed'),
      count: async refund => made(refund).length,
      otherRefund: text => change(text, { id: 4711, merchant_note: 'm0m0m0m0m0another'.padEnd(36, 'x') }),
    },
    webhook: webhookOf,
    wrongSettings: [{ settings: { secret_key: 'sk_test_wrong' }, words: /does not know the secret key/ }],
    stop: played.stop,
  }
}

// What the transaction is, inside the envelope.
function change(text: string, changes: object): string {
  const said = JSON.parse(text) as { data?: object }
  return JSON.stringify({ ...said, data: { ...said.data, ...changes } })
}

const givenFor = (method: PaymentMethod): Record<string, string> =>
  method.payment_method === 'card' ? {} : { phone: '+233244123456' }

function webhookOf({ idempotency_key: key }: Order, account?: 'another'): Webhook {
  const body = Buffer.from(
    JSON.stringify({ event: 'charge.success', data: { reference: key, amount: 2500 } }),
  )
  const signature = sign(body, account ? 'sk_test_another' : secretKey)
  return { path: '', headers: { 'x-paystack-signature': signature }, body, address: '127.0.0.1' }
}

conformance('paystack', paystack, settings, openBench)
