import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { fill } from '../../core/text.ts'
import { type AttemptProps, methodLabel, nextOf, secondsUntil, type View } from './view.ts'

type TimeProps = PropsWithChildren<AttemptProps & { over?: string }>

// How long the request can still be approved, as a bar and as text. The script counts down; without it the page reloads.
// After the end, the page only waits for the answer.
export const RequestTime = ({ view, attempt, over = '', children }: TimeProps) => {
  const { wait } = view.t
  const { requestEndsAt: endsAt } = view.checkout
  if (!endsAt) return null
  const next = nextOf(view, attempt)
  const ended =
    `${fill(wait.over[next], { method: methodLabel(view, attempt.payment_method) })} ${over}`.trim()
  const seconds = secondsUntil(endsAt, view.now)
  if (seconds === 0) return <p>{ended}</p>
  return (
    <div class="ends" data-ends={seconds} data-over={ended}>
      {children}
      <p class="time">
        {wait.ends[next]} <b class="left">{timeSpan(seconds)}</b>
      </p>
      <progress max={secondsUntil(endsAt, attempt.created_at)} value={seconds} aria-hidden="true"></progress>
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

// Minutes and seconds, as in the script, which counts them down.
const timeSpan = (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
