import type { Fields } from '../../core/interface/json.ts'
import { conflict, malformed } from '../../core/interface/refusal.ts'
import { isInvoiceId } from '../../core/interface/request.ts'
import type { SignedFields } from '../../core/interface/signedFields.ts'
import { hmac, requestString } from '../../core/interface/signature.ts'
import { defaultCurrency, isCurrency, parseMoney } from '../../core/money.ts'
import type { Status } from '../../core/payment/payment.ts'
import { parsePhone } from '../../core/phone.ts'
import { isTriggerOutcome, triggerOutcomes, type TriggerOutcome } from '../../core/testing/trigger.ts'
import { newTriggerInvoice } from '../../runtime/ids.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import { findPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findRequests } from '../../store/payments/payments.ts'
import { initiate } from '../interface/initiate.ts'
import { mustBeTest, withSignedRequest } from '../interface/signedRequest.ts'
import { createTriggerDriver, sandboxWallet } from './driveTrigger.ts'

const optionalFields = ['invoice_id', 'total', 'currency', 'ipn_url', 'email', 'number'] as const
const fieldNames = ['outcome', ...optionalFields] as const
type TriggerFields = SignedFields<(typeof fieldNames)[number]>

const defaultTotal = '25.00'
const largestMagicTotal = 5n // the sandbox has outcomes of its own for the totals from 0.01 to 0.05

export type Triggered = {
  merchant_id: string
  invoice_id: string
  tx_reference: string
  tx_token: string
  outcome: TriggerOutcome
  status: Status
  message: string
}

// A merchant makes a test payment end in a chosen way. The payment is requested, paid and notified like any other: the
// trigger only acts as the shop, the customer and the clock.
export function createTriggers(runtime: Runtime) {
  const driver = createTriggerDriver(runtime)

  return (sent: Fields, address: string): Promise<Triggered> =>
    withSignedRequest(runtime, sent, fieldNames, address, async ({ caller, fields, deadline }) => {
      mustBeTest(caller)
      const outcome = readOutcome(fields.outcome)
      runtime.limits.testTool(caller)
      const db = runtime.db.withQuota('test_tools').withDeadline(deadline)
      const key =
        (await findOwn({ ...runtime, db }, caller, fields)) ??
        (await request(runtime, caller, fields, outcome, address))
      const isStarted = await driver.drive(key, outcome)
      const payment = await stored({ ...runtime, db }, key)
      const { merchant_id, invoice_id, tx_reference, tx_token, status } = payment
      const message = isStarted ? triggerOutcomes[outcome] : nothingStarted
      return { merchant_id, invoice_id, tx_reference, tx_token, outcome, status, message }
    })
}

const nothingStarted = 'This payment was begun before, so nothing was started. Use a new invoice_id.'

function readOutcome(text = ''): TriggerOutcome {
  if (isTriggerOutcome(text)) return text
  throw malformed('outcome', `must be one of ${Object.keys(triggerOutcomes).join(', ')}`)
}

async function stored({ db }: Pick<Runtime, 'db'>, key: PaymentKey): Promise<PaymentWithMerchant> {
  const payment = await findPayment(db, key)
  if (!payment) throw new Error('a stored payment is missing')
  return payment
}

// The payment that has this invoice_id, whoever requested it. Details that are sent must be those of the payment.
async function findOwn(
  deps: Pick<Runtime, 'db'>,
  { merchant_id, mode }: Caller,
  fields: TriggerFields,
): Promise<PaymentKey | undefined> {
  const { invoice_id = '' } = fields
  if (!isInvoiceId(invoice_id)) return undefined
  const [found] = await findRequests(deps.db, [{ merchant_id, mode, invoice_id }])
  if (!found) return undefined
  if (!isSame(await stored(deps, found), fields)) throw conflict()
  return found
}

function isSame(payment: PaymentWithMerchant, { total, currency, ipn_url, email, number }: TriggerFields) {
  return (
    (!total || parseMoney(total, payment.currency) === payment.total) &&
    (!currency || currency === payment.currency) &&
    (!ipn_url || ipn_url === payment.ipn_url) &&
    (!email || email === payment.email) &&
    (!number || parsePhone(number) === payment.number)
  )
}

// Requests the payment as the merchant's server would, with a hash by the merchant's own secret.
async function request(
  runtime: Runtime,
  caller: Caller,
  fields: TriggerFields,
  outcome: TriggerOutcome,
  address: string,
): Promise<PaymentKey> {
  const { merchant_key } = caller
  const invoice_id = fields.invoice_id || newTriggerInvoice()
  const total = fields.total || defaultTotal
  mustReachSandbox(runtime, caller, total, fields.currency || defaultCurrency)
  const secret = caller.secrets[0] ?? Buffer.alloc(0)
  const details = Object.fromEntries(optionalFields.map(name => [name, fields[name]]))
  const { stored: created } = await initiate(
    runtime,
    {
      ...details,
      merchant_key,
      invoice_id,
      total,
      description: `Test trigger: ${outcome}`,
      generate_checkout_url: 'true',
      secure_hash: hmac(secret, requestString(invoice_id, merchant_key, total)).toString('hex'),
    },
    'api',
    address,
  )
  return created
}

// Checked before the payment is stored. Other faults are found by the request itself.
function mustReachSandbox(
  { providerAccounts }: Runtime,
  { merchant_id, settings }: Caller,
  text: string,
  currency: string,
) {
  const total = isCurrency(currency) ? parseMoney(text, currency) : ''
  if (typeof total !== 'bigint' || !isCurrency(currency)) return
  if (currency !== defaultCurrency)
    throw malformed('currency', `a trigger pays by mobile money, which takes ${defaultCurrency}`)
  if (total <= largestMagicTotal)
    throw malformed('total', 'the sandbox has outcomes of its own for 0.01 to 0.05; send a larger total')
  const subject = { merchant_id, mode: 'test' as const, currency, total, settings }
  if (!sandboxWallet(providerAccounts, subject))
    throw malformed('outcome', 'the simulated provider takes no mobile money for this payment here')
}
