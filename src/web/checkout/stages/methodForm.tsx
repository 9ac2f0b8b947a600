import type { Texts } from '../../../core/languages/en.ts'
import { type Lang, languages } from '../../../core/languages/languages.ts'
import { cachedFragment } from '../../../core/markup/fragmentCache.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { Icon, Sentence } from '../../../core/markup/page.tsx'
import { maskPhone } from '../../../core/mask.ts'
import type { Numbers } from '../../../core/phone.ts'
import type { FormField, PaymentMethod } from '../../../core/provider/paymentMethod.ts'
import { fill, unbroken } from '../../../core/text.ts'
import type { AvailableMethod } from '../../../runtime/providers/availableMethods.ts'
import { amountOf, methodName, type View } from '../view.ts'
import { fieldTexts, fieldName, type Form, type FormFault, prefixesOf, acceptsNumber } from './form.ts'

const prefixes = { mtn: prefixesOf('mtn'), telecel: prefixesOf('telecel'), at: prefixesOf('at') }

type MethodProps = { view: View; method: AvailableMethod; form: Form }

// One payment method of the form. Without faults it is the same for all customers, except for the amount and the input,
// so it is cached.
export const MethodRow = ({ view, method, form }: MethodProps) => {
  const { lang, checkout } = view
  const amount = amountOf(view)
  const { input, faults } = form
  const shut = checkout.shut?.includes(method.payment_method) ?? false
  const onFile = shownOnFile(method, form)
  const facts = { lang, shut, chosen: !shut && form.chosen === method.payment_method }
  if (faults.length > 0)
    return <Row method={method} {...facts} amount={amount} input={input} onFile={onFile} faults={faults} />
  const { number = '', prefix = '', replaced = false } = onFile ?? {}
  const cacheKey = { ...facts, hasNumber: onFile !== undefined, replaced }
  return plainRow(method, cacheKey, { amount, number, prefix, ...byField(method, id => input[id] ?? '') })
}

// The number on file as the page shows it: masked, and with the two digits from which the network is guessed.
// `replaced`: the customer typed another number, or a faulty one.
type ShownOnFile = { number: string; prefix: string; replaced: boolean }

function shownOnFile(method: AvailableMethod, { onFile, input, faults }: Form): ShownOnFile | undefined {
  if (!onFile || !acceptsNumber(method, onFile.number)) return undefined
  const phones = method.fields.filter(({ kind }) => kind === 'phone')
  const ids = phones.map(({ name }) => fieldName(method.payment_method, name))
  return {
    number: maskPhone(onFile.number),
    prefix: /^\+233(\d\d)/.exec(onFile.number)?.[1] ?? '',
    replaced: ids.some(id => input[id]?.trim() || faults.some(({ field }) => field === id)),
  }
}

const byField = ({ payment_method, fields }: AvailableMethod, valueOf: (id: string) => string) =>
  Object.fromEntries(
    fields.map(({ name }) => fieldName(payment_method, name)).map(id => [id, valueOf(id)] as const),
  )

// `shut`: the payment method is unavailable at the moment.
type RowFacts = { lang: Lang; shut: boolean; chosen: boolean }
type CachedFacts = RowFacts & { hasNumber: boolean; replaced: boolean }

const plainRow = cachedFragment(
  (method: AvailableMethod, { hasNumber, replaced, ...facts }: CachedFacts, gap) => {
    const props = { ...facts, amount: gap('amount'), input: byField(method, gap), faults: [] }
    const onFile = hasNumber ? { number: gap('number'), prefix: gap('prefix'), replaced } : undefined
    return <Row method={method} {...props} onFile={onFile} />
  },
)

type RowProps = Pick<Form, 'input' | 'faults'> &
  RowFacts & { method: AvailableMethod; amount: Child; onFile?: ShownOnFile }

// The fields are next to their radio button. One CSS rule shows those of the chosen payment method, so no script is
// needed, and a new provider needs no change here.
const Row = ({ method, lang, shut, chosen, amount, input, onFile, faults }: RowProps) => {
  const t = languages[lang]
  const id = method.payment_method
  const label = methodName(method, t)
  return (
    <div
      class="method"
      data-method={label}
      data-prefixes={shut ? undefined : method.network && prefixes[method.network]}
    >
      <input type="radio" name="payment_method" id={id} value={id} checked={chosen} disabled={shut} />
      <label for={id}>
        <Name method={method} label={label} t={t} />
        <Badge badge={method.badge} />
      </label>
      <div class="more">
        {method.fields.map(field => (
          <Field
            lang={lang}
            field={field}
            numbers={method.numbers}
            id={fieldName(id, field.name)}
            input={input}
            onFile={field.kind === 'phone' ? onFile : undefined}
            faults={faults}
          />
        ))}
        <p class="muted">
          <Sentence text={t.choose[`next_${method.next}`]} amount={<span class="whole">{amount}</span>} />
        </p>
      </div>
    </div>
  )
}

// If the provider has problems, their description replaces the note.
const Name = ({ method, label, t }: { method: AvailableMethod; label: string; t: Texts }) => {
  if (method.health !== 'healthy')
    return (
      <span class="trouble">
        <Sentence text={t.health[method.health]} method={<b>{label}</b>} />
      </span>
    )
  const note = noteOf(method, t)
  return (
    <span>
      {label} {note && <small>{note}</small>}
    </span>
  )
}

// For names that need an explanation.
function noteOf({ payment_method, next }: AvailableMethod, { method_notes }: Texts): string | undefined {
  const notes: Readonly<Record<string, string>> = method_notes
  return notes[payment_method] ?? notes[next]
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
  field: FormField
  numbers?: Numbers // accepted by the payment method
  id: string
  input: Form['input']
  onFile?: ShownOnFile
  faults: readonly FormFault[]
}

// The number on file is preselected. Another one can be typed in a <details> element, which works without a script.
export const Field = (props: FieldProps) => {
  const { lang, field, onFile } = props
  const t: Texts = languages[lang]
  const guess = field.kind === 'phone' && <p class="guess" role="status" />
  if (!onFile)
    return (
      <div class="field">
        <Input {...props} guess={guess} />
      </div>
    )
  return (
    <div class="field">
      <p class="on-file">
        <Sentence text={t.choose.on_file} number={<strong class="whole">{onFile.number}</strong>} />
      </p>
      {guess}
      <details open={onFile.replaced}>
        <summary>{t.choose.other_number}</summary>
        <div class="field">
          <Input {...props} />
        </div>
      </details>
    </div>
  )
}

type InputProps = FieldProps & { guess?: Child }

const Input = ({ lang, field, numbers, id, input, onFile, faults, guess }: InputProps) => {
  const t: Texts = languages[lang]
  const texts = fieldTexts(field, t, lang, numbers)
  const hint = onFile ? fill(t.choose.keep_number, { number: unbroken(onFile.number) }) : texts.hint
  const fault = faults.find(one => one.field === id)
  const described = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <>
      <label for={id}>
        {texts.label} {field.optional && <span class="muted">{t.choose.optional}</span>}
      </label>
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault.text}
        </p>
      )}
      <input
        class="input"
        id={id}
        name={id}
        value={input[id] ?? ''}
        aria-invalid={fault && 'true'}
        aria-describedby={described || undefined}
        data-prefix={onFile?.prefix}
        placeholder={onFile && ' '}
        {...kinds[field.kind]}
        {...(field.name === 'otp' && { autocomplete: 'one-time-code' })}
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

// The colours are SVG attributes: each provider has its own, and the policy allows no inline style.
export const Badge = ({ badge }: Pick<PaymentMethod, 'badge'>) => (
  <svg class="badge" viewBox="0 0 46 28" aria-hidden="true" focusable="false">
    <rect x=".5" y=".5" width="45" height="27" rx="6" fill={badge.background} />
    <text
      x="23"
      y="19"
      text-anchor="middle"
      font-size={badge.text.length > 4 ? 9 : 13}
      font-weight="700"
      fill={badge.ink}
    >
      {badge.text}
    </text>
  </svg>
)

type FaultsProps = { view: View; faults: readonly FormFault[]; first?: string }

// How many faults a form has that is shown again, with a link to each. The script moves the focus there. Each fault is
// explained at its field, so here only a screen reader gets the whole text. `first` is the id of the first field.
export const Faults = ({ view: { t }, faults, first = '' }: FaultsProps) => {
  const [only] = faults
  return (
    <section class="notice bad" role="alert" tabindex={-1} id="faults">
      <Icon name="alert" />
      {faults.length === 1 && only ? (
        <FaultLink fault={only} first={first} words={t.faults.title} />
      ) : (
        <div>
          <p>
            <strong>{fill(t.faults.title_many, { count: faults.length })}</strong>
          </p>
          <ul>
            {faults.map(fault => (
              <li>
                <FaultLink fault={fault} first={first} words={fault.label} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

type FaultLinkProps = { fault: FormFault; first: string; words?: string }

const FaultLink = ({ fault: { field, text }, first, words }: FaultLinkProps) => (
  <a href={`#${field || first}`}>
    {words ? (
      <>
        {words}
        <span class="sr">. {text}</span>
      </>
    ) : (
      text
    )}
  </a>
)
