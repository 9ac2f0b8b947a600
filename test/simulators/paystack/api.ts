import type { SimulatorRequest, SimulatorReply } from '../simulator.ts'
import { type Charge, isOver, type Terms, transactionOf } from './charges.ts'

// Paystack's reply envelope.
export const good = (message: string, data: unknown): SimulatorReply => ({
  status: 200,
  body: { status: true, message, data },
})

// The codes are the observed ones; the default is `validation_error`.
export const bad = (
  status: number,
  message: string,
  code = 'validation_error',
  data?: object,
): SimulatorReply => ({
  status,
  body: {
    status: false,
    message,
    ...(data && { data }),
    meta: { nextStep: 'Please check the request and try again' },
    type: 'validation_error',
    code,
  },
})

// Observed with 404 and with 400.
export const notFound = ({ notFoundHttp }: Pick<Terms, 'notFoundHttp'>) =>
  bad(notFoundHttp, 'Transaction reference not found.', 'transaction_not_found')

export const duplicate = (message: string) => bad(400, message, 'duplicate_reference')

export const invalidKey = (http = 401) => bad(http, 'Invalid key', 'invalid_Key')

// The secret key of a request, or the refusal of one that has none.
export function keyOf({ headers }: SimulatorRequest): string | SimulatorReply {
  const [, key] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? []
  return key ?? bad(401, 'Format is Authorization Bearer [secret key]', 'invalid_Key')
}

export type ChargeRequest = {
  email?: unknown
  amount?: unknown
  currency?: unknown
  reference?: unknown
  mobile_money?: { phone?: unknown; provider?: unknown }
  callback_url?: unknown
  metadata?: unknown
}

// Validates a request.
export function faultOf({
  email,
  amount,
  currency,
  reference,
  mobile_money,
}: ChargeRequest): SimulatorReply | undefined {
  if (typeof email !== 'string' || !email.includes('@'))
    return bad(400, 'Email address is required to create charge')
  if (!/^\d+$/.test(String(amount))) return bad(400, 'Amount must be an integer')
  if (currency !== 'GHS') return bad(400, 'Currency not supported by merchant')
  if (typeof reference !== 'string' || !/^[\w.=-]+$/.test(reference) || reference.includes('_'))
    return bad(400, 'Invalid character in transaction reference')
  if (!mobile_money) return undefined
  if (!/^0\d{9}$/.test(String(mobile_money.phone))) return bad(422, 'Invalid phone number format')
  return ['mtn', 'vod', 'atl'].includes(String(mobile_money.provider))
    ? undefined
    : bad(400, 'Invalid mobile money provider')
}

const texts: Readonly<Record<string, string>> = {
  pay_offline: 'Please complete authorization process on your mobile phone',
  send_otp: 'Please enter the code that was sent to your phone',
  send_birthday: 'Please enter your birthday',
}
const voucherText = 'Please dial *110# on your phone to generate a voucher, then enter it here'

export const textOf = (asks: string, provider?: string) =>
  asks === 'send_otp' && provider === 'vod' ? voucherText : (texts[asks] ?? '')

// A charge as POST /charge, a submit and GET /charge return it.
export function chargeOf(charge: Charge, terms: Terms, now: number): SimulatorReply {
  const { reference, asks, text, ended } = charge
  const isOpen = !ended && (charge.story.staysOpen || !isOver(charge, terms, now))
  if (!isOpen || asks === 'success') return good('Charge attempted', transactionOf(charge, terms, now))
  const url = asks === 'open_url' ? { url: 'https://bank.example.test/approve' } : {}
  return good('Charge attempted', { reference, status: asks, display_text: text, ...url })
}

const mostTries = 3

// The customer's input at a step. The time limit of the prompt begins with the right code.
export function submitted(charge: Charge, typed: unknown, terms: Terms, now: number): SimulatorReply {
  if (charge.ended || isOver(charge, terms, now))
    return bad(400, 'Transaction cannot be completed. Session timeout exceeded.')
  if (!charge.asks.startsWith('send_')) return bad(400, 'Charge is not waiting for this')
  if (++charge.tries > mostTries)
    return bad(400, 'Too many attempts. You have to wait for 5 minutes to try again')
  if (typed !== (charge.story.code ?? '123456')) return wrongCode(charge, terms, now)
  Object.assign(charge, { asks: 'pay_offline', text: textOf('pay_offline'), window_at: now })
  return chargeOf(charge, terms, now)
}

// One wrong code ends a charge whose story says so, as it ends a card's.
function wrongCode(charge: Charge, terms: Terms, now: number): SimulatorReply {
  const message = 'Provided registration token is invalid'
  if (!charge.story.wrongCodeEnds) return bad(400, message)
  Object.assign(charge, { ended: 'failed', says: message, ended_at: now })
  return bad(400, message, 'validation_error', transactionOf(charge, terms, now))
}
