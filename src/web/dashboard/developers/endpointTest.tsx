import type { NotTested, TestedEndpoint } from '../../../actions/notifications/testNotification.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { hintsFor, resultText } from '../../../core/notification/delivery.ts'
import { fill } from '../../../core/text.ts'
import type { MerchantVisit } from '../route.ts'
import { developersTexts } from './developersTexts.ts'

type TestProps = { visit: MerchantVisit; hasAddress: boolean; tested: TestedEndpoint | NotTested | undefined }

// The button that sends a test notification, and the result of the one that this page has sent.
export const EndpointTest = ({ visit, hasAddress, tested }: TestProps) => {
  const texts = developersTexts[visit.lang].test
  if (!visit.may('notifications.test')) return null
  return (
    <>
      {typeof tested === 'string' && (
        <section class="notice bad" role="alert">
          <Icon name="alert" />
          <p>{texts[tested]}</p>
        </section>
      )}
      {typeof tested === 'object' && <TestResult visit={visit} tested={tested} />}
      {hasAddress && (
        <form method="post" action={`${visit.base}/developers/test-notification`} class="row">
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn plain">
            {texts.send}
          </button>
          <span class="small muted">{texts.text}</span>
        </form>
      )}
    </>
  )
}

const TestResult = ({ visit, tested }: { visit: MerchantVisit; tested: TestedEndpoint }) => {
  const { lang } = visit
  const texts = developersTexts[lang].test
  const { status, ms, error, answer, id } = tested
  const isAccepted = tested.result === 'acknowledged'
  const reason = error && fill(texts.because, { reason: error })
  const sentence = isAccepted ? texts.accepted : status === null ? texts.failed : texts.answered
  const result = resultText(tested.result, lang)
  return (
    <section class={isAccepted ? 'notice ok' : 'notice bad'} role={isAccepted ? 'status' : 'alert'}>
      <Icon name={isAccepted ? 'check' : 'alert'} />
      <div>
        <p>
          <b>{fill(sentence, { status: status ?? '', ms, result, reason })}</b>
        </p>
        {hintsFor([tested.result], lang).map(hint => (
          <p class="small">{hint}</p>
        ))}
        {answer !== '' && (
          <p class="small">
            {texts.answer} <code>{answer}</code>
          </p>
        )}
        <p class="small">{fill(texts.id, { id })}</p>
      </div>
    </section>
  )
}
