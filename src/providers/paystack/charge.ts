import type { Order } from '../../core/provider/order.ts'
import type { Reply } from '../../core/provider/reply.ts'
import type { FormField, Step } from '../../core/provider/paymentMethod.ts'
import { type PaystackResponse, paystackSample } from './client.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'

// What Paystack may want to know after the start, and where what was typed goes. Its PINs are not among them: the PIN of
// a wallet is nobody's but the customer's and the network's, and no page of ours asks for it.
type StepOf = { name: string; field: FormField; path: string; sends: string }

const code = { maxLength: 12 } as const
const otp: StepOf = {
  name: 'otp',
  field: {
    name: 'otp',
    kind: 'digits',
    ...code,
    words: { en: { label: 'Code from the message' }, fr: { label: 'Code reçu par message' } },
  },
  path: '/charge/submit_otp',
  sends: 'otp',
}
const voucher: StepOf = {
  name: 'voucher',
  field: { name: 'voucher_code', kind: 'digits', ...code },
  path: '/charge/submit_otp',
  sends: 'otp',
}
const birthday: StepOf = {
  name: 'birthday',
  field: {
    name: 'birthday',
    kind: 'date',
    words: { en: { label: 'Date of birth' }, fr: { label: 'Date de naissance' } },
  },
  path: '/charge/submit_birthday',
  sends: 'birthday',
}
const phone: StepOf = {
  name: 'phone',
  field: { name: 'phone', kind: 'phone' },
  path: '/charge/submit_phone',
  sends: 'phone',
}
const steps = [otp, voucher, birthday, phone]

export const stepCalled = (name: string) => steps.find(step => step.name === name)

function stepFor(word: unknown, { payment_method }: Order): StepOf | undefined {
  if (word === 'send_otp') return payment_method === 'telecel_cash' ? voucher : otp // which Telecel's customers make themselves
  return word === 'send_birthday' ? birthday : word === 'send_phone' ? phone : undefined
}

const underWay = new Set<unknown>(['pending', 'ongoing', 'processing', 'queued'])
const closedUnpaid = new Set<unknown>(['failed', 'timeout', 'abandoned'])
const isEnd = new Set<unknown>([...closedUnpaid, 'success', 'reversed'])

// Paystack or the network is at work: such a charge can still be paid, however late it is.
export const isUnderWay = ({ status }: JsonAnswer) => underWay.has(status)

// Nobody is asked to pay it any more; undefined, where Paystack has no such charge.
export const isClosed = ({ status }: JsonAnswer) => status === undefined || closedUnpaid.has(status)

// Of these, verify is asked whether they are true.
export const isEnding = ({ status }: JsonAnswer) => isEnd.has(status)

// The customer is still wanted: at the phone, or for a code.
export const isOpen = ({ status }: JsonAnswer) =>
  status === 'pay_offline' || status === 'open_url' || String(status).startsWith('send_')

// What an answer about a charge that is under way asks of the customer.
export function chargeReply(order: Order, data: JsonAnswer): Reply {
  const { status, display_text, url } = data
  const text = typeof display_text === 'string' ? { text: display_text } : {}
  if (status === 'pay_offline' || isUnderWay(data)) return { state: 'pending', ...text }
  const step = stepFor(status, order)
  if (step) return { state: 'pending', step: { ...drawn(step), ...text } }
  if (status === 'open_url' && typeof url === 'string')
    return { state: 'pending', redirect_url: url, ...text }
  const words = status === 'open_url' ? 'no way on' : `status ${paystackSample(status)}`
  return { state: 'unknown', words, acknowledged: true, unknownCode: paystackSample(status) }
}

const drawn = ({ name, field }: StepOf): Step => ({ name, fields: [field] })

// The same step once more, with what Paystack says was wrong.
export const askAgain = (step: StepOf, text: string): Reply => ({
  state: 'pending',
  step: { ...drawn(step), text },
})

const wrongCodes = [
  /token is invalid/i,
  /(invalid|incorrect|wrong).*(otp|code|voucher|birthday|phone)/i,
  /(otp|code|voucher|birthday|phone).*(invalid|incorrect|wrong)/i,
  /too many attempts/i,
]

// Nothing came of what was typed, and the step is as open as before.
export const isWrongCode = ({ http, message }: PaystackResponse) =>
  http >= 400 && http < 500 && wrongCodes.some(fits => fits.test(message))
