import { nameMerchants } from '../../actions/merchants/nameMerchants.ts'
import { messagesOf } from '../../actions/messages/sendReceiptAgain.ts'
import { tellingsOf } from '../../actions/notifications/findNotifications.ts'
import { explainPayment, findByWord } from '../../actions/payments/explainPayment.ts'
import { formTokenOf } from '../../core/formOrigin.ts'
import type { MessageRules } from '../../core/message/messageRules.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Ctx } from '../http/context.ts'
import { ChoicePage, NothingPage } from './pages.tsx'
import { type Notice, PaymentPage } from './paymentPage.tsx'

export type SupportRuntime = Pick<
  Runtime,
  'db' | 'clock' | 'wake' | 'limits' | 'bodies' | 'formKey' | 'baseUrl'
> & { rules: MessageRules }

// What the form token of a payment's page is made from.
export const supportPage = (merchant_id: string, tx_reference: string) => [
  'support',
  merchant_id,
  tx_reference,
]

// The payment that a word means, with all that is known of it; or the choice, where it means several.
export async function showPayment(
  { db, clock, formKey }: SupportRuntime,
  c: Ctx,
  word: string,
  merchant_id: string | undefined,
  notice?: Notice & { http?: 409 },
) {
  const found = await findByWord(db, word, merchant_id)
  const [payment] = found
  if (!payment) return c.html(<NothingPage word={word} />, 404)
  if (found.length > 1) return c.html(<ChoicePage word={word} choices={await nameMerchants(db, found)} />)
  const now = clock()
  const [explained, told, sent] = await Promise.all([
    explainPayment(db, payment, now),
    tellingsOf(db, payment),
    messagesOf(db, payment),
  ])
  const page = (
    <PaymentPage
      word={word}
      explained={explained}
      told={told}
      sent={sent}
      now={now}
      formToken={formTokenOf(formKey, supportPage(payment.merchant_id, payment.tx_reference))}
      notice={notice}
    />
  )
  return c.html(page, notice?.http ?? 200)
}
