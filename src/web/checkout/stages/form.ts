import type { Texts } from '../../../core/languages/en.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { ghanaNumbers, guessNetwork, isAmong, type Network, type Numbers } from '../../../core/phone.ts'
import type { FieldFault } from '../../../core/provider/formFields.ts'
import type { FormField, PaymentMethod } from '../../../core/provider/paymentMethod.ts'
import { fill, unbroken } from '../../../core/text.ts'
import { attemptOf, methodLabel, offerOf, type View } from '../view.ts'

// The input of the payment form, and what is wrong with it.
export type Form = {
  chosen?: string
  typed: Readonly<Record<string, string>> // by field name
  onFile?: NumberOnFile
  faults: readonly FormFault[]
}
// A number that the gateway has already. Everybody with the link sees the page, so it is masked there. `from`
// identifies it in the form: 'request', or the number of an attempt.
type NumberOnFile = { from: string; number: string }
// An empty `field` means the form itself. `lasting`: only time resolves it.
export type FormFault = { field: string; text: string; lasting?: true }

// The form submits the fields of all payment methods, so each field has the method in its name.
export const fieldOf = (payment_method: string, ask: string) => `${payment_method}.${ask}`

type FieldTexts = { label: string; hint?: string }

// The hint of a phone number depends on the country of the payment method.
export function fieldTexts(
  ask: FormField,
  t: Texts,
  lang: Lang,
  numbers: Numbers = ghanaNumbers,
): FieldTexts {
  const known: Readonly<Record<string, FieldTexts>> = t.fields
  const { label, hint } = known[ask.name] ?? ask.words?.[lang] ?? ask.words?.en ?? { label: ask.name }
  if (hint === undefined || ask.kind !== 'phone') return { label, hint }
  return { label, hint: fill(hint, { example: unbroken(numbers.example), code: numbers.country }) }
}

export function faultText(view: View, method: PaymentMethod, { field, fault }: FieldFault): FormFault {
  const { t, lang } = view
  const ask = method.fields.find(({ name }) => name === field)
  const label = ask ? fieldTexts(ask, t, lang).label : field
  const { region, example } = method.numbers ?? ghanaNumbers
  const country = new Intl.DisplayNames(t.locale, { type: 'region' }).of(region) ?? region
  const words = fill(t.faults[fault], {
    label,
    method: methodLabel(view, method.payment_method),
    country,
    example: unbroken(example),
  })
  return { field: fieldOf(method.payment_method, field), text: words }
}

export const onFileField = 'on_file'

// The number that the form refers to. An attempt's instrument may also be a card, which is not a number.
export function numberOnFile({ checkout }: View, from: string | undefined): NumberOnFile | undefined {
  if (!from) return undefined
  const number =
    from === 'request'
      ? (checkout.pymt_instrument ?? checkout.number)
      : checkout.attempts.find(attempt => String(attempt.number) === from)?.instrument
  return number?.startsWith('+') ? { from, number } : undefined
}

// Whether the payment method accepts this number: wallets belong to a country.
export const takesNumber = ({ fields, numbers }: Pick<PaymentMethod, 'fields' | 'numbers'>, number: string) =>
  fields.some(({ kind }) => kind === 'phone') && (!numbers || isAmong(number, numbers))

// An empty form. It offers the number of the last attempt or of the request, unless the customer said that it was
// wrong.
export function freshForm(view: View, again: string | undefined): Form {
  const last = again === 'same' || again === 'number' ? attemptOf(view) : undefined
  if (again === 'number') return { chosen: last?.payment_method, typed: {}, faults: [] }
  const onFile = (last && numberOnFile(view, String(last.number))) ?? numberOnFile(view, 'request')
  const chosen = again === 'other' ? undefined : (last?.payment_method ?? likelyMethod(view, onFile?.number))
  return { chosen, typed: {}, onFile, faults: [] }
}

// A submitted form, to be shown again.
export const sentForm = (
  view: View,
  typed: Readonly<Record<string, string>>,
  faults: readonly FormFault[] = [],
): Form => ({
  chosen: typed.payment_method,
  typed,
  onFile: numberOnFile(view, typed[onFileField]),
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
export function typedFor(view: View, payment_method: string, sent: Readonly<Record<string, string>>) {
  const offer = offerOf(view, payment_method)
  const known = numberOnFile(view, sent[onFileField])?.number
  const number = offer && known && takesNumber(offer, known) ? known : ''
  return Object.fromEntries(
    (offer?.fields ?? []).map(({ name, kind }) => {
      const text = sent[fieldOf(payment_method, name)] ?? ''
      return [name, kind === 'phone' && text.trim() === '' ? number : text]
    }),
  )
}
