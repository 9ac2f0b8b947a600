import type { Attempt } from '../../../core/payment/attempt.ts'
import type { AttemptProps, View } from '../view.ts'

// The page of the simulated provider on which a tester approves or declines this attempt. Undefined for a payment at the
// card page, which the tester has opened already, and for other providers.
const testPhoneOf = ({ checkout, lang }: View, attempt: Attempt | undefined): string | undefined =>
  checkout.testerPage && attempt && !attempt.redirect_url && !attempt.gave_up_at
    ? `${checkout.testerPage}?lang=${lang}`
    : undefined

// The same page for a frame. It may be framed by this origin only, so not if the shop frames the checkout.
export const framedPhoneOf = (view: View, attempt: Attempt | undefined): string | undefined => {
  const page = view.framed ? undefined : testPhoneOf(view, attempt)
  return page && `${page}&framed=1`
}

// The test phone beside the page, on a wide screen. A frame that is not displayed is not loaded.
export const TestPhoneFrame = ({ view, attempt }: AttemptProps) => {
  const page = framedPhoneOf(view, attempt)
  const { wait } = view.t
  return page ? (
    <aside class="bench" aria-label={wait.test_phone_title}>
      <iframe src={page} title={wait.test_phone_title} loading="lazy"></iframe>
      <p>
        <b>{wait.test_phone_title}.</b> <span class="muted">{wait.test_phone_text}</span>
      </p>
    </aside>
  ) : null
}

// The same page in another tab, on a screen that has no room for the frame.
export const TestPhoneLink = ({ view, attempt }: AttemptProps) => {
  const page = testPhoneOf(view, attempt)
  return page ? (
    <p class="to-phone">
      <a class="btn plain wide" href={page} target="_blank" rel="noopener">
        {view.t.wait.test_phone}
      </a>
    </p>
  ) : null
}
