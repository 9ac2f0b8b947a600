import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { tooManyRequests } from '../../core/interface/refusal.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { nextTriggerStep, type TriggerOutcome, type TriggerStep } from '../../core/testing/trigger.ts'
import type { MethodSubject } from '../../runtime/providers/availableMethods.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { cancel } from '../payments/cancel.ts'
import { giveUp } from '../payments/giveUp.ts'
import { pay } from '../payments/pay.ts'
import { wakeDispatchers } from '../payments/writeChanges.ts'
import { expireNow, moveAttemptsOf } from './clock.ts'

const lookEveryMs = 200
const longestMs = 60_000
const maxDriven = 100 // payments of this process with steps left

// A wallet of each network, without its last three digits, which decide the outcome.
const wallets: Readonly<Record<string, { prefix: string; voucher_code?: string }>> = {
  mtn_mobile_money: { prefix: '024' },
  airteltigo_money: { prefix: '027' },
  telecel_cash: { prefix: '020', voucher_code: '123456' },
}

// The payment method by which the simulated provider takes mobile money for a payment. Only it has test endings.
export const sandboxWallet = (
  { availableMethods }: Pick<Runtime['providerAccounts'], 'availableMethods'>,
  payment: MethodSubject,
): string | undefined =>
  availableMethods(payment).find(
    ({ testEndings, payment_method }) => testEndings && wallets[payment_method] !== undefined,
  )?.payment_method

type Driven = { payment: PaymentWithMerchant; attempts: Attempt[] }

// Takes a payment through the steps of its trigger. The first steps are taken before the answer. The rest continues in this
// process; if it dies, the same trigger continues.
export function createTriggerDriver(deps: Runtime) {
  const inBackground = new Set<string>()

  async function load(key: PaymentKey): Promise<Driven> {
    const payment = await findPayment(deps.db, key)
    if (!payment) throw new Error('a stored payment is missing')
    return { payment, attempts: await attemptsOf(deps.db, key.merchant_id, key.tx_reference) }
  }

  // Returns the step that it has taken. A step that cannot be taken ends the trigger.
  async function takeStep(key: PaymentKey, outcome: TriggerOutcome): Promise<TriggerStep['do']> {
    const driven = await load(key)
    const step = nextTriggerStep(outcome, { ...driven, now: deps.clock() })
    const isTaken = await perform(deps, driven, step)
    return isTaken ? step.do : 'nothing'
  }

  async function continueAlone(key: PaymentKey, outcome: TriggerOutcome) {
    const until = performance.now() + longestMs
    let step: TriggerStep['do']
    do {
      await sleep(lookEveryMs, undefined, { ref: false })
      step = await takeStep(key, outcome)
    } while (step !== 'nothing' && performance.now() < until)
  }

  // Returns whether there was anything to do. An error of a later step ends the trigger; the merchant can repeat it.
  async function drive(key: PaymentKey, outcome: TriggerOutcome): Promise<boolean> {
    const { tx_reference } = key
    if (inBackground.has(tx_reference)) return true
    if (inBackground.size >= maxDriven) throw tooManyRequests(1)
    inBackground.add(tx_reference)
    let isContinued = false
    try {
      const first = await takeStep(key, outcome)
      isContinued = first !== 'nothing'
      return isContinued
    } finally {
      const end = () => inBackground.delete(tx_reference)
      if (isContinued) void continueAlone(key, outcome).then(end, end)
      else end()
    }
  }

  return { drive }
}

async function perform(deps: Runtime, { payment, attempts }: Driven, step: TriggerStep): Promise<boolean> {
  const now = deps.clock()
  switch (step.do) {
    case 'pay':
      return payByWallet(deps, payment, step)
    case 'give_up':
      await giveUp(deps, payment, { number: step.number, gave_up_for: 'method' })
      return true
    case 'cancel':
      await cancel(deps, payment, now)
      wakeDispatchers(deps)
      return true
    case 'expire':
      await expireNow(deps.db, payment, now)
      return true
    case 'advance': {
      const { merchant_id } = payment
      await moveAttemptsOf(deps.db, { merchant_id, ms: step.ms, now }, attempts.slice(0, 1))
      deps.wake('pollers')
      return true
    }
    default:
      return step.do === 'wait'
  }
}

// False if the attempt cannot begin, or the payment method is not the sandbox's any more.
async function payByWallet(
  deps: Runtime,
  payment: PaymentWithMerchant,
  { number, lastDigits }: TriggerStep & { do: 'pay' },
): Promise<boolean> {
  const subject = { ...payment, settings: readMerchantSettings(payment.merchant_settings) }
  const payment_method = sandboxWallet(deps.providerAccounts, subject)
  if (!payment_method) return false
  const { prefix = '', ...rest } = wallets[payment_method] ?? {}
  // Any number of the network: the caps count by number.
  const middle = String(randomInt(10_000)).padStart(4, '0')
  const input = { phone: `${prefix}${middle}${lastDigits}`, ...rest }
  const result = await pay(deps, subject, { number, payment_method, input, cause: 'merchant', address: null })
  if (result.done === 'refused' && result.obstacle === 'too_many') throw tooManyRequests(result.seconds)
  return result.done === 'started'
}
