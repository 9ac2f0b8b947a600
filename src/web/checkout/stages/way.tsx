import type { FormField } from '../../../core/channel/channel.ts'
import type { Texts } from '../../../core/languages/en.ts'
import type { Offer } from '../../../runtime/channels.ts'
import { Badge } from '../page/badge.tsx'
import { Say } from '../page/say.tsx'
import { amountOf, labelOf, type View } from '../page/view.ts'
import { askWords, type Form, fieldOf, prefixesOf } from './form.ts'

const prefixes = { mtn: prefixesOf('mtn'), telecel: prefixesOf('telecel'), at: prefixesOf('at') }

type WayProps = { view: View; way: Offer; form: Form }

// One way to pay. What it asks for stands beside its radio button, so that one rule of the stylesheet, without a
// script, shows it for the chosen one: a new channel draws itself.
export const WayRow = ({ view, way, form }: WayProps) => {
  const { t } = view
  const id = way.payment_method
  const note = noteOf(way, t)
  return (
    <div class="way" data-way={labelOf(view, id)} data-prefixes={way.network && prefixes[way.network]}>
      <input type="radio" name="payment_method" id={id} value={id} checked={form.chosen === id} />
      <label for={id}>
        <span>
          {labelOf(view, id)} {note && <small>{note}</small>}
        </span>
        <Badge badge={way.badge} />
      </label>
      <div class="more">
        {way.fields.map(ask => (
          <Field view={view} ask={ask} id={fieldOf(id, ask.name)} form={form} />
        ))}
        <p class="muted">
          <Say text={t.choose[`next_${way.next}`]} amount={<span class="whole">{amountOf(view)}</span>} />
        </p>
      </div>
    </div>
  )
}

// What is not plain from the name. A wallet asks on the phone: that is said once, where it is chosen.
function noteOf({ payment_method, next }: Offer, { ways }: Texts): string | undefined {
  const known: Readonly<Record<string, string>> = ways
  return known[payment_method] ?? known[next]
}

const kinds = {
  phone: { type: 'tel', inputmode: 'tel', autocomplete: 'tel' },
  digits: { type: 'text', inputmode: 'numeric', autocomplete: 'off' },
  text: { type: 'text', inputmode: 'text', autocomplete: 'off' },
} as const

const Field = ({ view, ask, id, form }: { view: View; ask: FormField; id: string; form: Form }) => {
  const { label, hint } = askWords(ask, view.t, view.lang)
  const fault = form.faults.find(({ field }) => field === id)
  const described = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>
        {label} {ask.optional && <span class="muted">{view.t.choose.optional}</span>}
      </label>
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault.words}
        </p>
      )}
      <input
        id={id}
        name={id}
        value={form.typed[id] ?? ''}
        aria-invalid={fault && 'true'}
        aria-describedby={described || undefined}
        {...kinds[ask.kind]}
      />
      {ask.kind === 'phone' && <p class="guess" role="status" />}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
