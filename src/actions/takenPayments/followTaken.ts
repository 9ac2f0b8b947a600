import { currencies, type Currency } from '../../core/money.ts'
import { isUnresolved } from '../../core/payment/attempt.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import { guessNetwork, isAmong } from '../../core/phone.ts'
import { readFormFields } from '../../core/provider/formFields.ts'
import { startOfDay } from '../../core/zone.ts'
import type { AvailableMethod } from '../../runtime/providers/availableMethods.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Db } from '../../store/db.ts'
import {
  findTakenPayment,
  listTakenAtOutlet,
  listTakenPayments,
  type TakenRow,
} from '../../store/payments/takenPayments.ts'
import { listOutlets } from '../../store/merchants/merchants.ts'
import { cancelForMerchant } from '../payments/cancelForMerchant.ts'
import { type Checkout, openCheckout } from '../payments/openCheckout.ts'
import { pay } from '../payments/pay.ts'
import type { Taker } from './takePayment.ts'

export type { TakenRow }

const listed = 10 // of today's payments
const mostToday = 2000 // that are summed
const mostOfMerchant = 10_000 // that are read for those of one outlet

// What was taken since midnight, by one user or at one outlet: the newest rows, and the sums of the paid ones.
export type TakenDay = {
  rows: readonly TakenRow[]
  paid: number
  sums: readonly { currency: Currency; total: bigint }[]
  isMore: boolean // than are summed
  outlet?: string // the name of the outlet whose day it is
}

// `outlet`: what anybody took at this one, instead of what the user took.
export async function takenToday(
  db: Db,
  { merchant_id, user_id, mode }: Pick<Taker, 'merchant_id' | 'user_id' | 'mode'>,
  outlet: string | undefined,
  now: Date,
  timeZone: string,
): Promise<TakenDay> {
  const since = firstReferenceAt(startOfDay(now, timeZone))
  if (outlet !== undefined) {
    const [{ rows, isCut }, outlets] = await Promise.all([
      listTakenAtOutlet(db, { merchant_id, outlet, since, mode }, mostOfMerchant),
      listOutlets(db, merchant_id),
    ])
    return { ...dayOf(rows, isCut), outlet: outlets.find(({ code }) => code === outlet)?.name ?? outlet }
  }
  const rows = await listTakenPayments(db, { merchant_id, user_id, since, mode }, mostToday + 1)
  return dayOf(rows.slice(0, mostToday), rows.length > mostToday)
}

function dayOf(rows: readonly TakenRow[], isMore: boolean): TakenDay {
  const paid = rows.filter(({ status }) => status === 'paid')
  const sums = currencies.flatMap(currency => {
    const of = paid.filter(row => row.currency === currency)
    return of.length > 0 ? [{ currency, total: of.reduce((sum, row) => sum + row.total, 0n) }] : []
  })
  return { rows: rows.slice(0, listed), paid: paid.length, sums, isMore }
}

// One payment that this user took in this mode, as its checkout page has it. Undefined for any other payment.
export async function followTaken(
  runtime: Pick<Runtime, 'db' | 'checkouts' | 'providerAccounts' | 'clock'>,
  db: Db,
  { merchant_id, user_id, mode }: Pick<Taker, 'merchant_id' | 'user_id' | 'mode'>,
  tx_reference: string,
): Promise<Checkout | undefined> {
  const found = await findTakenPayment(db, { merchant_id, user_id, tx_reference })
  return found?.mode === mode ? openCheckout(runtime, found.tx_token) : undefined
}

// The method whose provider can ask this phone without further input. The network of a Ghanaian number is guessed by its
// prefix; elsewhere only one method may fit.
export function promptMethod(
  methods: readonly AvailableMethod[],
  phone: string | null,
): AvailableMethod | undefined {
  if (phone === null) return undefined
  const network = guessNetwork(phone)
  const able = methods.filter(
    method =>
      method.next === 'prompt' &&
      (network
        ? method.network === network
        : method.numbers !== undefined && isAmong(phone, method.numbers)) &&
      readFormFields(method, { phone }).faults.length === 0,
  )
  return able.length === 1 ? able[0] : undefined
}

export type AskedPhone = 'asked' | 'no_method' | 'refused'

// The provider asks the customer's phone to approve. `number` is the attempt that the page was made for, so that a button
// that is pressed twice asks once.
export async function askPhone(
  runtime: Runtime,
  checkout: Checkout,
  number: number,
  lang: string,
): Promise<AskedPhone> {
  const method = promptMethod(checkout.methods, checkout.number)
  if (!method) return 'no_method'
  const result = await pay(runtime, checkout, {
    number,
    payment_method: method.payment_method,
    input: { phone: checkout.number ?? '' },
    cause: 'merchant',
    address: null,
    lang,
  })
  return result.done === 'started' ? 'asked' : 'refused'
}

// The user cancels a payment that he took. While the provider may still take the money this is only recorded. A second time
// changes nothing.
export async function cancelTaken(
  runtime: Pick<Runtime, 'localWorkers' | 'installation' | 'wake' | 'watch'>,
  db: Db,
  { merchant_id, user_id, mode, actor }: Taker,
  tx_reference: string,
  now: Date,
) {
  const found = await findTakenPayment(db, { merchant_id, user_id, tx_reference })
  if (found?.mode !== mode) return
  const request = { merchant_id, mode, tx_reference, seen: found.status, by: 'merchant' } as const
  await cancelForMerchant({ ...runtime, db }, request, actor, now)
}

// Whether the payment may still be paid by a request to the phone: the last one has ended, and another one is possible.
export const mayAskAgain = ({ stage, attempts, methods, number }: Checkout) =>
  (stage === 'choose' || stage === 'failed') &&
  !attempts.some(isUnresolved) &&
  promptMethod(methods, number) !== undefined
