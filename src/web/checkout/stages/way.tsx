import type { FormField } from '../../../core/channel/way.ts'
import type { Texts } from '../../../core/languages/en.ts'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { kept } from '../../../core/markup/kept.ts'
import { maskPhone } from '../../../core/mask.ts'
import type { Numbers } from '../../../core/phone.ts'
import { fill, unbroken } from '../../../core/text.ts'
import type { Offer } from '../../../runtime/channels.ts'
import { Badge } from '../page/badge.tsx'
import { Say } from '../page/say.tsx'
import { amountOf, nameOf, type View } from '../page/view.ts'
import { askWords, type Form, type FormFault, fieldOf, prefixesOf, takesNumber } from './form.ts'

const prefixes = { mtn: prefixesOf('mtn'), telecel: prefixesOf('telecel'), at: prefixesOf('at') }

type WayProps = { view: View; way: Offer; form: Form }

// One way to pay. All of it but the amount and what was typed is the same for everybody who typed nothing wrong.
export const WayRow = ({ view, way, form }: WayProps) => {
  const { lang, checkout } = view
  const [amount, { typed, faults }] = [amountOf(view), form]
  const shut = checkout.shut?.includes(way.payment_method) ?? false
  const onFile = shownOnFile(way, form)
  const facts = { lang, shut, chosen: !shut && form.chosen === way.payment_method }
  if (faults.length > 0)
    return <Row way={way} {...facts} amount={amount} typed={typed} onFile={onFile} faults={faults} />
  const { number = '', prefix = '', replaced = false } = onFile ?? {}
  const drawnBy = { ...facts, known: onFile !== undefined, replaced }
  return plainRow(way, drawnBy, { amount, number, prefix, ...typedFirst(way, typed) })
}

// The number on file as the page shows it: masked, and with the two digits that its network is guessed by. `replaced`: the
// payer typed another one, or something is wrong with what was typed.
type ShownOnFile = { number: string; prefix: string; replaced: boolean }

function shownOnFile(way: Offer, { onFile, typed, faults }: Form): ShownOnFile | undefined {
  if (!onFile || !takesNumber(way, onFile.number)) return undefined
  const phones = way.fields.filter(({ kind }) => kind === 'phone')
  const ids = phones.map(({ name }) => fieldOf(way.payment_method, name))
  return {
    number: maskPhone(onFile.number),
    prefix: /^\+233(\d\d)/.exec(onFile.number)?.[1] ?? '',
    replaced: ids.some(id => typed[id]?.trim() || faults.some(({ field }) => field === id)),
  }
}

const typedFirst = (way: Offer, typed: Form['typed']) =>
  Object.fromEntries(fieldsOf(way).map(id => [id, typed[id] ?? '']))

const fieldsOf = ({ payment_method, fields }: Offer) =>
  fields.map(({ name }) => fieldOf(payment_method, name))

// `shut`: nothing is sent that way for the moment.
type RowFacts = { lang: Lang; shut: boolean; chosen: boolean }
type KeptFacts = RowFacts & { known: boolean; replaced: boolean }

const plainRow = kept((way: Offer, { known, replaced, ...facts }: KeptFacts, gap) => {
  const typed = Object.fromEntries(fieldsOf(way).map(id => [id, gap(id)]))
  const onFile = known ? { number: gap('number'), prefix: gap('prefix'), replaced } : undefined
  return <Row way={way} {...facts} amount={gap('amount')} typed={typed} onFile={onFile} faults={[]} />
})

type RowProps = Pick<Form, 'typed' | 'faults'> &
  RowFacts & { way: Offer; amount: Child; onFile?: ShownOnFile }

// What it asks for stands beside its radio button, so that one rule of the stylesheet, without a script, shows it for the
// chosen one: a new channel draws itself.
const Row = ({ way, lang, shut, chosen, amount, typed, onFile, faults }: RowProps) => {
  const t = languages[lang]
  const id = way.payment_method
  const label = nameOf(way, t)
  return (
    <div class="way" data-way={label} data-prefixes={shut ? undefined : way.network && prefixes[way.network]}>
      <input type="radio" name="payment_method" id={id} value={id} checked={chosen} disabled={shut} />
      <label for={id}>
        <Name way={way} label={label} t={t} />
        <Badge badge={way.badge} />
      </label>
      <div class="more">
        {way.fields.map(ask => (
          <Field
            lang={lang}
            ask={ask}
            numbers={way.numbers}
            id={fieldOf(id, ask.name)}
            typed={typed}
            onFile={ask.kind === 'phone' ? onFile : undefined}
            faults={faults}
          />
        ))}
        <p class="muted">
          <Say text={t.choose[`next_${way.next}`]} amount={<span class="whole">{amount}</span>} />
        </p>
      </div>
    </div>
  )
}

// Whoever is in trouble says so in place of the note.
const Name = ({ way, label, t }: { way: Offer; label: string; t: Texts }) => {
  if (way.standing !== 'good')
    return (
      <span class="trouble">
        <Say text={t.standings[way.standing]} way={<b>{label}</b>} />
      </span>
    )
  const note = noteOf(way, t)
  return (
    <span>
      {label} {note && <small>{note}</small>}
    </span>
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
  email: { type: 'email', inputmode: 'email', autocomplete: 'email' },
  date: { type: 'date', inputmode: 'text', autocomplete: 'bday' },
} as const

type FieldProps = {
  lang: Lang
  ask: FormField
  numbers?: Numbers // of the payment method
  id: string
  typed: Form['typed']
  onFile?: ShownOnFile
  faults: readonly FormFault[]
}

// A number on file is chosen already. Another one is typed behind a disclosure, which works without a script; left empty,
// the number on file counts.
export const Field = (props: FieldProps) => {
  const { lang, ask, onFile } = props
  const t: Texts = languages[lang]
  const guess = ask.kind === 'phone' && <p class="guess" role="status" />
  if (!onFile)
    return (
      <div class="field">
        <Input {...props} guess={guess} />
      </div>
    )
  return (
    <div class="field">
      <p class="on-file">
        <Say text={t.choose.on_file} number={<strong class="whole">{onFile.number}</strong>} />
      </p>
      {guess}
      <details open={onFile.replaced}>
        <summary>{t.choose.other_number}</summary>
        <Input {...props} />
      </details>
    </div>
  )
}

const Input = ({ lang, ask, numbers, id, typed, onFile, faults, guess }: FieldProps & { guess?: Child }) => {
  const t: Texts = languages[lang]
  const words = askWords(ask, t, lang, numbers)
  const hint = onFile ? fill(t.choose.keep_number, { number: unbroken(onFile.number) }) : words.hint
  const fault = faults.find(({ field }) => field === id)
  const described = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <>
      <label for={id}>
        {words.label} {ask.optional && <span class="muted">{t.choose.optional}</span>}
      </label>
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault.words}
        </p>
      )}
      <input
        id={id}
        name={id}
        value={typed[id] ?? ''}
        aria-invalid={fault && 'true'}
        aria-describedby={described || undefined}
        data-prefix={onFile?.prefix}
        placeholder={onFile && ' '}
        {...kinds[ask.kind]}
        {...(ask.name === 'otp' && { autocomplete: 'one-time-code' })}
      />
      {guess}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  )
}
