import { Sentence } from '../../../core/markup/page.tsx'
import { amountOf, type AttemptProps, methodLabel, methodOf } from '../view.ts'
import { Badge } from './methodForm.tsx'

// A drawing of the message that the customer's phone shows. It has no field for a PIN, so that no customer types one into
// this page.
export const PhonePicture = ({ view, attempt }: AttemptProps) => {
  const { checkout, t } = view
  const method = methodOf(view, attempt.payment_method)
  return (
    <div class="picture" aria-hidden="true">
      <div class="handset">
        <div class="message">
          <p class="from">
            {method && <Badge badge={method.badge} />}
            {methodLabel(view, attempt.payment_method)}
          </p>
          <p>
            <Sentence
              text={t.wait.message}
              amount={<b class="whole">{amountOf(view)}</b>}
              shop={
                <b>
                  <bdi>{checkout.merchant_name}</bdi>
                </b>
              }
            />
          </p>
        </div>
      </div>
    </div>
  )
}
