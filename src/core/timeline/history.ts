import { maskInstrument, maskPhone } from '../mask.ts'
import type { MerchantSettings } from '../merchant/settings.ts'
import { figureIn } from '../money.ts'
import type { Attempt } from '../payment/attempt.ts'
import type { PaymentEvent, Task } from '../payment/change.ts'
import type { Payment } from '../payment/payment.ts'
import { paymentMethodName } from '../provider/paymentMethod.ts'

// Everything that is known of one payment.
export type PaymentHistory = {
  payment: Payment
  merchant: {
    name: string
    active: boolean
    settings: Pick<MerchantSettings, 'retry_after_failure' | 'reopen_unpaid' | 'expiry_minutes'>
  }
  attempts: readonly Attempt[]
  events: readonly PaymentEvent[]
  tasks: readonly Task[]
}

export const money = (currency: string, minor: bigint) => `${currency} ${figureIn(minor, currency)}`

// What the provider took, as a figure. Where it is in another currency than was asked for, the task about it says so, and
// its code stands before it.
export function chargedFigure(
  { attempt_id, charged, state }: Attempt,
  { payment, tasks }: Pick<PaymentHistory, 'payment' | 'tasks'>,
): string | null {
  if (charged === null) return null
  const isAboutIt = (task: Task) => task.kind === 'amount_mismatch' && task.attempt_id === attempt_id
  const said = state === 'paid' ? undefined : tasks.find(isAboutIt)
  return said && said.currency !== payment.currency
    ? money(said.currency, charged)
    : figureIn(charged, payment.currency)
}

export function wayAndInstrument(attempt: Attempt): string {
  const instrument = maskInstrument(attempt.instrument)
  return instrument
    ? `${paymentMethodName(attempt.payment_method)}, ${instrument}`
    : paymentMethodName(attempt.payment_method)
}

// What a terminal or a browser would obey instead of showing it; a provider's words may hold anything.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const orders = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g

export const plainWords = (words: string) => words.replace(orders, ' ')

const nationalDigits = 9 // of a number, however its beginning is written

// Words of a provider may repeat the number that we sent it, in any spelling.
export function withoutNumbers(words: string, { payment, attempts }: PaymentHistory): string {
  const numbers = [payment.number, payment.pymt_instrument, ...attempts.map(({ instrument }) => instrument)]
  let hidden = plainWords(words)
  for (const number of numbers) {
    if (!number?.startsWith('+')) continue
    const spellings = new RegExp(`\\+?\\d{0,4}${number.slice(-nationalDigits).replace(/\D/g, '')}`, 'g')
    hidden = hidden.replace(spellings, maskPhone(number))
  }
  return hidden
}
