import { z } from 'zod'
import { currencies } from '../../core/money.ts'
import { moneyBackTypes } from '../../core/payment/change.ts'
import { codes } from './codes.ts'

// The bodies that we answer, key by key. The description is made from these schemas, and a test holds real
// answers against them.
const told = (description: string) => z.string().meta({ description })
const maybe = (description: string) => z.string().nullable().meta({ description })
const tried = (description: string) => maybe(`${description} Null before the first attempt.`)
const ofCards = (description: string) => maybe(`Card payments: ${description} Otherwise null.`)
const instant = (description: string) => z.iso.datetime().meta({ description })

const stored = {
  success: z.literal(true),
  status: z
    .literal('new')
    .meta({ description: 'The request is stored. How the payment stands is the status check.' }),
  status_code: z.literal(0),
  message: told('A sentence for a person.'),
  invoice_id: told('Yours, as you sent it.'),
  tx_reference: told('Ours: unique, sorts by time, safe to print.'),
}

export const paymentStored = z.object({
  ...stored,
  tx_token: told('The last part of the checkout address.'),
  url: z.url().meta({ description: 'The same address as checkout_url.' }),
  checkout_url: z.url().meta({ description: 'Send the customer here.' }),
})

export const directStored = z.object(stored)

const extra = z
  .object({
    channel: tried('The way to pay of the latest attempt, as in payment_method.'),
    wallet_issuer_hint: maybe('The network named in a direct request.'),
    email: maybe('Customer email address.'),
    mobile_no: maybe('Customer phone number.'),
    Mobile_no: maybe('The same again, as older clients spell it.'),
    name: maybe('Customer name.'),
    card_type: ofCards('the brand of the card.'),
    psp_response_code: ofCards('the response code of the card processor.'),
    psp_response_msg: ofCards('what that code means.'),
  })
  .catchall(z.string())
  .meta({ description: 'What is known beside the record, and your own extra_ fields without their prefix.' })

export const statusRecord = z.object({
  success: z
    .literal(true)
    .meta({ description: 'The question was answered. It says nothing about the money.' }),
  status: z
    .enum(['awaiting_payment', 'paid', 'cancelled', 'failed'])
    .meta({ description: 'How the payment stands. Only paid means that money arrived.' }),
  status_reason: told('Why, mainly for failed payments; otherwise empty.'),
  invoice_id: told('Yours.'),
  tx_reference: told('Ours.'),
  gw_invoice_id: told('The same as tx_reference.'),
  payment_reference: tried("The provider's own reference."),
  amount: z.number().meta({ description: 'The total as a number, in major units of currency.' }),
  currency: z.enum(currencies).meta({ description: 'The currency of every amount in this record.' }),
  total_amount_charged: z
    .number()
    .nullable()
    .meta({ description: 'What the provider took; null until paid.' }),
  service_fee: z.number().nullable().meta({ description: 'Null: fees are not known here yet.' }),
  payment_method: tried(
    'mtn_mobile_money, telecel_cash, airteltigo_money, card or ghqr: how it was paid, or last tried.',
  ),
  payment_instrument: maybe('The wallet or card of the latest attempt, masked.'),
  payment_time: z.iso.datetime().nullable().meta({ description: 'When it was paid; null until then.' }),
  reversed_at: z.iso.datetime().nullable().meta({
    description:
      'When the first refund was made, or the first dispute lost; null otherwise. The status stays paid.',
  }),
  reversed_amount: z
    .number()
    .nullable()
    .meta({ description: 'What went back to the customer so far, in major units; null where nothing did.' }),
  as_at: instant('The moment of this answer.'),
  last_updated: instant('The moment of the last change.'),
  narration: maybe('The description of the request.'),
  buyer_firstname: maybe('First word of the customer name.'),
  buyer_lastname: maybe('The rest of the customer name.'),
  buyer_email: maybe('Customer email address.'),
  buyer_phone: maybe('Customer phone number with its country code.'),
  tran_type: z.enum(['test', 'live']).meta({ description: 'The mode of the key.' }),
  outlet: maybe('Code of the outlet.'),
  client_ip: z.null().meta({ description: 'Always null.' }),
  client_ip_location: z.null().meta({ description: 'Always null.' }),
  extra,
})

export const keyedRecord = statusRecord.extend({
  amount: told('The total as text with two decimals, also where the currency has none: 25.00, 5000.00.'),
})

export const statusAnswer = statusRecord.catchall(keyedRecord).meta({
  description: 'First a key that is your invoice_id, with the keyed record; then the same record flat.',
})

// Some readers of it ignore letter case, and would meet this name twice.
const extraAlone = extra.omit({ Mobile_no: true }).meta({
  description:
    'As in the other answers, but no two names differ by letter case alone: ours stay, and of yours the first.',
})

export const keyedAnswer = z
  .record(z.string(), keyedRecord.extend({ extra: extraAlone }))
  .meta({ description: 'One key, your invoice_id, with the record.' })

const event = z.object({
  cursor: told('Ask with this as after to go on behind this event.'),
  id: told('The webhook-id of its notification.'),
  sequence: z.int().min(1).meta({ description: "Counts the changes of this payment's status." }),
  type: z.enum(['status', ...moneyBackTypes]).meta({
    description:
      'A change of the status, which was notified; or what happened to money after it was paid, which stands here alone.',
  }),
  status: z.enum(['awaiting_payment', 'paid', 'cancelled', 'failed']),
  created_at: instant('When it happened.'),
  body: told('The bytes of the notification, as text: parse it as JSON.'),
})

export const eventsAnswer = z.object({
  success: z.literal(true),
  status: z.literal('ok'),
  events: z.array(event).meta({ description: 'The oldest first.' }),
  next: told('Ask with this as after next time. The same as after when nothing is new.'),
  more: z.boolean().meta({ description: 'There are more: ask again now.' }),
})

export const errorBody = z.object({
  success: z.literal(false),
  status: z.literal('error'),
  status_code: z
    .int()
    .min(400)
    .max(599)
    .meta({ description: 'The HTTP status that this answer has, or would have had.' }),
  message: told('What is wrong and what to do, in a sentence.'),
  error: z.object({
    code: z.enum(codes),
    message: told('The same sentence.'),
    field: z.string().optional().meta({ description: 'The field that it is about, where there is one.' }),
    hint: z
      .object({
        hashed_string: told('The string that we hashed.'),
        likely_mistake: told('What most likely went wrong.'),
      })
      .optional()
      .meta({ description: 'Beside GW-010 in test mode only.' }),
  }),
  request_id: told('The same as the x-request-id header. Quote it when you ask for help.'),
})

export const failedRecord = z.object({
  success: z.literal(false),
  status: z.literal('error'),
  status_reason: told('What is wrong.'),
  invoice_id: told('As you sent it.'),
  amount: z.literal(''),
})

export const failedCheck = z
  .object({ ...failedRecord.shape, ...errorBody.shape })
  .catchall(failedRecord)
  .meta({ description: 'Two-fold like a good answer: under the invoice_id when one was sent, and flat.' })

export const failedKeyedCheck = z
  .record(z.string(), failedRecord)
  .meta({ description: 'One key, the invoice_id that was sent.' })
