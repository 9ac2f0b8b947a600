import { sendReceiptAgain } from '../../actions/messages/sendReceiptAgain.ts'
import { type Redelivered, redeliverAsSeen } from '../../actions/notifications/redeliver.ts'
import { formTokenField, formTokenOf, isFormToken } from '../../core/formOrigin.ts'
import { TooBusy } from '../../core/interface/refusal.ts'
import { isPlainText } from '../../core/text.ts'
import { addressOf } from '../http/apiRequest.ts'
import { readFields } from '../http/body.ts'
import type { Ctx } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { isOperatorProgram, senderOf } from '../http/fromHere.ts'
import type { OperatorDoor } from '../http/operatorDoor.ts'
import { ElsewherePage, NothingPage, TooBusyPage, UnreachablePage } from './pages.tsx'
import { type SupportRuntime, showPayment, supportPage } from './show.tsx'

type Sent = { merchant: string; reference: string; field(name: string): string }
// What came of a press: done, done before, or refused in words.
type Pressed = 'receipt' | 'told' | 'already' | { refused: string } | undefined

// A press of a button changes something once, and then leads to the page that shows it, which may be reloaded.
export const pressed =
  (
    runtime: SupportRuntime,
    door: Pick<OperatorDoor, 'trustedProxies'>,
    act: (runtime: SupportRuntime, sent: Sent) => Promise<Pressed>,
  ) =>
  async (c: Ctx) => {
    const sender = senderOf(c, runtime.baseUrl())
    if (sender === 'other_site') return c.html(<ElsewherePage />, 403)
    try {
      const sent = await readForm(c, runtime, door.trustedProxies)
      if (sender === 'unproven' && !isOperatorProgram(c) && !hasToken(runtime, sent))
        return c.html(<ElsewherePage />, 403)
      const came = await act(runtime, sent)
      if (came === undefined) return c.html(<NothingPage word={sent.reference} />, 404)
      if (typeof came === 'object')
        return await showPayment(runtime, c, sent.reference, sent.merchant, {
          words: came.refused,
          http: 409,
        })
      runtime.wake('senders')
      const { merchant, reference } = sent
      const query = new URLSearchParams({ q: reference, merchant, done: came }).toString()
      return c.body(null, 303, { location: `/support?${query}` })
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (error.isBodyUnread) c.header('connection', 'close')
      if (error.http === 429 || error instanceof TooBusy)
        return c.html(<TooBusyPage />, error.http as 429, { 'retry-after': '5' })
      if (error.http !== 503) return c.html(<ElsewherePage />, error.http as 400)
      return c.html(<UnreachablePage word="" />, 503, { 'retry-after': '5' })
    }
  }

const hasToken = ({ formKey }: SupportRuntime, { merchant, reference, field }: Sent) =>
  isFormToken(formTokenOf(formKey, supportPage(merchant, reference)), field(formTokenField))

async function readForm(c: Ctx, runtime: SupportRuntime, trustedProxies: number): Promise<Sent> {
  const { incoming } = c.env
  const { fields } = await readFields(incoming, { runtime, address: addressOf(incoming, trustedProxies) })
  const field = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' && isPlainText(value) ? value : ''
  }
  return { merchant: field('merchant'), reference: field('reference'), field }
}

export async function sendReceipt(
  { db, clock, rules }: SupportRuntime,
  { merchant, reference, field }: Sent,
): Promise<Pressed> {
  const key = { merchant_id: merchant, tx_reference: reference }
  const medium = field('medium') === 'email' ? 'email' : 'sms'
  const number = Number(/^\d{1,2}$/.exec(field('number'))?.[0] ?? 0)
  const came = await sendReceiptAgain(db, key, { medium, number }, rules, clock())
  if (came.done === 'refused') return { refused: `The receipt was not sent again. ${came.words}` }
  if (came.done === 'no_payment') return undefined
  return came.done === 'already' ? 'already' : 'receipt'
}

export async function redeliver(
  { db, clock }: SupportRuntime,
  { merchant, reference, field }: Sent,
): Promise<Pressed> {
  const sequence = Number(/^\d{1,6}$/.exec(field('sequence'))?.[0] ?? 0)
  const key = { merchant_id: merchant, tx_reference: reference, sequence }
  const seen = field('seen')
  const came = await redeliverAsSeen(db, key, seen === '' ? null : new Date(seen), clock())
  if (came === undefined || came === 'already') return came
  return came.redelivered > 0 ? 'told' : { refused: `It was not sent again. ${whyNot(came)}` }
}

function whyNot({ being_sent, no_address }: Redelivered): string {
  if (being_sent > 0) return 'It is being sent at this moment: see what comes of it first.'
  if (no_address > 0) return 'The shop has no address to send it to: its ipn_url is not set.'
  return "The shop's ipn_style is basic, which leaves out awaiting_payment."
}
