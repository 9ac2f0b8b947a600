import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { Sentence } from '../../core/markup/page.tsx'
import { fill } from '../../core/text.ts'
import { type AttemptProps, methodLabel, methodOf, secondsUntil, type View } from './view.ts'

type TimeProps = PropsWithChildren<AttemptProps & { over?: string }>

// How long the request can still be approved, as a bar and as text. The script counts down; without it the page reloads.
// After the end, the page only waits for the answer.
export const RequestTime = ({ view, attempt, over = '', children }: TimeProps) => {
  const { wait } = view.t
  const { requestEndsAt: endsAt } = view.checkout
  if (!endsAt) return null
  const next = methodOf(view, attempt.payment_method)?.next ?? 'prompt'
  const ended =
    `${fill(wait.over[next], { method: methodLabel(view, attempt.payment_method) })} ${over}`.trim()
  const seconds = secondsUntil(endsAt, view.now)
  if (seconds === 0) return <p>{ended}</p>
  return (
    <div class="ends" data-ends={seconds} data-over={ended}>
      {children}
      <progress max={secondsUntil(endsAt, attempt.created_at)} value={seconds} aria-hidden="true"></progress>
      <p class="muted">
        <Sentence text={wait.ends[next]} left={<span class="left">{timeSpan(seconds)}</span>} />
      </p>
    </div>
  )
}

const minuteMs = 60_000

// The time at which the request ends. The script rewrites it in the time zone and by the clock of the device.
export const LocalTime = ({ view: { now, t }, at }: { view: View; at: Date }) => {
  const next = new Date(Math.ceil(at.getTime() / minuteMs) * minuteMs)
  const clock = new Intl.DateTimeFormat(t.locale, { timeStyle: 'short', timeZone: 'UTC' }).format(next)
  return (
    <time class="whole" datetime={next.toISOString()} data-in={secondsUntil(at, now)}>
      {clock} GMT
    </time>
  )
}

const exactBelow = 5 // minutes

// The same format as in the script, which counts seconds.
function timeSpan(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes >= exactBelow) return `${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}
