import type { Texts } from '../../../core/languages/en.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { ghanaNumbers, guessNetwork, isAmong, type Network, type Numbers } from '../../../core/phone.ts'
import type { FieldFault } from '../../../core/provider/formFields.ts'
import type { FormField, PaymentMethod } from '../../../core/provider/paymentMethod.ts'
import { fill, unbroken } from '../../../core/text.ts'
import { attemptOf, methodLabel, methodOf, type View } from '../view.ts'

// The input of the payment form, and what is wrong with it.
export type Form = {
  chosen?: string // the payment method
  input: Readonly<Record<string, string>> // by field name
  onFile?: NumberOnFile
  faults: readonly FormFault[]
}
// A number that the gateway has stored. Anyone with the link can open the page, so it is masked there. `from` identifies
// it in the form: 'request', or the number of an attempt.
type NumberOnFile = { from: string; number: string }
// An empty `field` means the form itself, which has no label. `lasting`: only time resolves it.
export type FormFault = { field: string; label?: string; text: string; lasting?: true }

// The form submits the fields of all payment methods, so each field has the method in its name.
export const fieldName = (payment_method: string, field: string) => `${payment_method}.${field}`

type FieldTexts = { label: string; hint?: string }

// The hint of a phone number depends on the country of the payment method.
export function fieldTexts(
  field: FormField,
  t: Texts,
  lang: Lang,
  numbers: Numbers = ghanaNumbers,
): FieldTexts {
  const common: Readonly<Record<string, FieldTexts>> = t.fields
  const { label, hint } = common[field.name] ??
    field.words?.[lang] ??
    field.words?.en ?? { label: field.name }
  if (hint === undefined || field.kind !== 'phone') return { label, hint }
  return { label, hint: fill(hint, { example: unbroken(numbers.example), code: numbers.country }) }
}

// The label of a field of a form.
export function labelOf({ t, lang }: View, fields: readonly FormField[], name: string): string | undefined {
  const field = fields.find(one => one.name === name)
  return field && fieldTexts(field, t, lang).label
}

type FormOwner = Pick<PaymentMethod, 'payment_method' | 'fields' | 'numbers'>

// What is wrong with a field of a payment method or of a step.
export function faultText(view: View, owner: FormOwner, { field: name, fault }: FieldFault): string {
  const { t } = view
  const { payment_method, fields, numbers = ghanaNumbers } = owner
  return fill(t.faults[fault], {
    label: labelOf(view, fields, name) ?? name,
    method: methodLabel(view, payment_method),
    country: new Intl.DisplayNames(t.locale, { type: 'region' }).of(numbers.region) ?? numbers.region,
    example: unbroken(numbers.example),
  })
}

export const onFileField = 'on_file'

// The number that the form refers to. An attempt's instrument may also be a card, which is not a number.
function numberOnFile({ checkout }: View, from: string | undefined): NumberOnFile | undefined {
  if (!from) return undefined
  const number =
    from === 'request'
      ? (checkout.pymt_instrument ?? checkout.number)
      : checkout.attempts.find(attempt => String(attempt.number) === from)?.instrument
  return number?.startsWith('+') ? { from, number } : undefined
}

// A payment method may accept the numbers of one country only.
export const acceptsNumber = (
  { fields, numbers }: Pick<PaymentMethod, 'fields' | 'numbers'>,
  number: string,
) => fields.some(({ kind }) => kind === 'phone') && (!numbers || isAmong(number, numbers))

// An empty form. It offers the number of the last attempt or of the request, unless the customer asked to change it.
export function freshForm(view: View, again: string | undefined): Form {
  const last = again === 'same' || again === 'number' ? attemptOf(view) : undefined
  if (again === 'number') return { chosen: last?.payment_method, input: {}, faults: [] }
  const onFile = (last && numberOnFile(view, String(last.number))) ?? numberOnFile(view, 'request')
  const chosen = again === 'other' ? undefined : (last?.payment_method ?? likelyMethod(view, onFile?.number))
  return { chosen, input: {}, onFile, faults: [] }
}

// A submitted form, to be shown again.
export const sentForm = (
  view: View,
  input: Readonly<Record<string, string>>,
  faults: readonly FormFault[] = [],
): Form => ({
  chosen: input.payment_method,
  input,
  onFile: numberOnFile(view, input[onFileField]),
  faults,
})

function likelyMethod({ checkout: { methods } }: View, number: string | undefined): string | undefined {
  const network = number && guessNetwork(number)
  const method = methods.length === 1 ? methods[0] : network && methods.find(one => one.network === network)
  return method ? method.payment_method : undefined
}

// The prefixes of a network (two digits after the zero), from which the script guesses the network.
export const prefixesOf = (network: Network) =>
  Array.from({ length: 90 }, (_, at) => at + 10)
    .filter(prefix => guessNetwork(`+233${prefix}0000000`) === network)
    .join(' ')

// The input of the chosen payment method. An empty phone number means the number on file.
export function inputFor(view: View, payment_method: string, sent: Readonly<Record<string, string>>) {
  const method = methodOf(view, payment_method)
  const stored = numberOnFile(view, sent[onFileField])?.number
  const number = method && stored && acceptsNumber(method, stored) ? stored : ''
  return Object.fromEntries(
    (method?.fields ?? []).map(({ name, kind }) => {
      const text = sent[fieldName(payment_method, name)] ?? ''
      return [name, kind === 'phone' && text.trim() === '' ? number : text]
    }),
  )
}
