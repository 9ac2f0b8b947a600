import type { Child, PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { FormToken, Icon, Sentence } from '../../../core/markup/page.tsx'
import type { Attempt, GaveUpFor } from '../../../core/payment/attempt.ts'
import { type AttemptProps, linkTo, methodName, methodOf, nextOf, type View } from '../view.ts'

export type ProblemKinds = {
  giveUp?: boolean // the customer can ask for another number or payment method
  noMessage?: boolean // the phone should have shown a message
  unfinished?: boolean // the customer may not have paid on the provider's page
}

type ProblemProps = AttemptProps & ProblemKinds & { isOpen?: boolean }

// All exits from a page that waits, in one disclosure, so that the page itself has one instruction only. A page that
// reloads itself would close it again and again, so there it is open.
export const Problem = (props: ProblemProps) => {
  const { view, attempt, isOpen = false, giveUp = false, noMessage, unfinished } = props
  const { problem, wait } = view.t
  const gives = giveUp ? exitsOf(view, attempt) : { number: false, method: false }
  const summary = [
    gives.number && problem.number.in_summary,
    unfinished && problem.unfinished.in_summary,
    gives.method && problem.method.in_summary,
    problem.check.in_summary,
    problem.cancel.in_summary,
  ]
  return (
    <details class="card problem" open={isOpen}>
      <summary>
        <span>
          <b>{problem.title}</b>
          <small>{sentenceCase(summary.filter(Boolean).join(', '))}</small>
        </span>
        <Icon name="down" />
      </summary>
      <ul>
        {noMessage && <NoMessage view={view} attempt={attempt} />}
        {gives.number && <ChangeNumber view={view} attempt={attempt} />}
        {unfinished && <Unfinished view={view} />}
        {gives.method && <OtherMethod view={view} attempt={attempt} />}
        <CheckAgain view={view} />
        <CancelPayment view={view} attempt={attempt} />
        {(gives.number || gives.method) && (
          <li>
            <small>{wait.counts[nextOf(view, attempt)]}</small>
          </li>
        )}
      </ul>
    </details>
  )
}

const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

// An attempt cannot be given up when the time to pay is over. The only payment method can be chosen again, unless the
// number can be changed.
function exitsOf(view: View, attempt: Attempt): { number: boolean; method: boolean } {
  const { expires_at, methods } = view.checkout
  const isOpen = expires_at > view.now
  const number = isOpen && nextOf(view, attempt) === 'prompt' && attempt.instrument !== null
  return { number, method: isOpen && (!number || methods.length > 1) }
}

type ExitProps = PropsWithChildren<{ title: string; text?: Child }>

const Exit = ({ title, text, children }: ExitProps) => (
  <li>
    <span>
      <b>{title}</b>
      {text && <small>{text}</small>}
    </span>
    {children}
  </li>
)

// The code of the wallet's menu. On a phone, the button dials it.
const NoMessage = ({ view, attempt }: AttemptProps) => {
  const { wait, problem } = view.t
  const { title, button } = problem.no_message
  const dial = methodOf(view, attempt.payment_method)?.dial
  if (!dial) return <Exit title={title} text={wait.dial_unknown} />
  const code = <span class="whole">{dial.code}</span>
  const text = dial.steps ? (
    <Sentence text={wait.dial_steps} code={code} steps={dial.steps} />
  ) : (
    <Sentence text={wait.dial} code={code} />
  )
  return (
    <Exit title={title} text={text}>
      <a
        class="btn plain"
        href={`tel:${encodeURIComponent(dial.code)}`}
        aria-label={`${button} ${dial.code}`}
      >
        {button}
      </a>
    </Exit>
  )
}

const ChangeNumber = ({ view, attempt }: AttemptProps) => {
  const { title, text, button } = view.t.problem.number
  return (
    <Exit title={title} text={text}>
      <GiveUpForm view={view} attempt={attempt} to="number" label={button} />
    </Exit>
  )
}

// Names the other payment methods.
const OtherMethod = ({ view, attempt }: AttemptProps) => {
  const { title, button } = view.t.problem.method
  const others = view.checkout.methods.filter(one => one.payment_method !== attempt.payment_method)
  const names = others.map(one => methodName(one, view.t))
  const list = new Intl.ListFormat(view.t.locale, { type: 'disjunction' }).format(names)
  return (
    <Exit title={title} text={list && `${list}.`}>
      <GiveUpForm view={view} attempt={attempt} to="method" label={button} />
    </Exit>
  )
}

const Unfinished = ({ view }: { view: View }) => {
  const { title, text, button } = view.t.problem.unfinished
  return (
    <Exit title={title} text={text}>
      <a class="btn plain" href={linkTo(view, '', { unfinished: '1' })}>
        {button}
      </a>
    </Exit>
  )
}

const CheckAgain = ({ view }: { view: View }) => {
  const { title, text, button } = view.t.problem.check
  return (
    <Exit title={title} text={text}>
      <a class="btn plain" href={linkTo(view)}>
        {button}
      </a>
    </Exit>
  )
}

// Says that nothing is taken only while the provider waits for the customer.
const CancelPayment = ({ view, attempt }: AttemptProps) => {
  const { cancel } = view.t.problem
  const isAwaited = attempt.state === 'pending' && !attempt.returned_at && !attempt.gave_up_at
  return (
    <Exit title={cancel.title} text={isAwaited ? cancel[nextOf(view, attempt)] : cancel.unclear}>
      <a class="btn danger" href={linkTo(view, '/cancel')}>
        {cancel.button}
      </a>
    </Exit>
  )
}

type FormProps = AttemptProps & { to: GaveUpFor; label: string }

const GiveUpForm = ({ view, attempt, to, label }: FormProps) => (
  <form method="post" action={linkTo(view, '/give-up')} data-busy={view.t.frame.one_moment}>
    <FormToken token={view.formToken} />
    <input type="hidden" name="number" value={attempt.number} />
    <button type="submit" class="btn plain" name="for" value={to}>
      {label}
    </button>
  </form>
)
