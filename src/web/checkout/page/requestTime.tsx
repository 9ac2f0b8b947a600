import type { PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { fill } from '../../../core/text.ts'
import { Say } from './say.tsx'
import { labelOf, offerOf, secondsTo, type View } from './view.ts'

type TimeProps = PropsWithChildren<{ view: View; attempt: Attempt; over?: string }>

// How long what was sent can still be approved, as a bar and in words. The script counts on; without it the page does,
// each time that it loads itself. When it is over, the answer alone is waited for.
export const RequestTime = ({ view, attempt, over = '', children }: TimeProps) => {
  const { wait } = view.t
  const { requestEndsAt: endsAt } = view.checkout
  if (!endsAt) return null
  const next = offerOf(view, attempt.payment_method)?.next ?? 'prompt'
  const ended = `${fill(wait.over[next], { way: labelOf(view, attempt.payment_method) })} ${over}`.trim()
  const seconds = secondsTo(endsAt, view.now)
  if (seconds === 0) return <p>{ended}</p>
  return (
    <div class="ends" data-ends={seconds} data-over={ended}>
      {children}
      <progress max={secondsTo(endsAt, attempt.created_at)} value={seconds} aria-hidden="true"></progress>
      <p class="muted">
        <Say text={wait.ends[next]} left={<span class="left">{timeSpan(seconds)}</span>} />
      </p>
    </div>
  )
}

const minuteMs = 60_000

// The clock of the device is what its owner looks at: the script writes the moment as that will show it.
export const Moment = ({ view: { now, t }, at }: { view: View; at: Date }) => {
  const next = new Date(Math.ceil(at.getTime() / minuteMs) * minuteMs)
  const clock = new Intl.DateTimeFormat(t.locale, { timeStyle: 'short', timeZone: 'UTC' }).format(next)
  return (
    <time class="whole" datetime={next.toISOString()} data-in={secondsTo(at, now)}>
      {clock} GMT
    </time>
  )
}

const exactBelow = 5 // minutes

// As the script writes it on, second by second.
export function timeSpan(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes >= exactBelow) return `${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}
