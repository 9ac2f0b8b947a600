import type { Fault } from '../../../core/channel/formFields.ts'
import type { FormField, Way } from '../../../core/channel/way.ts'
import type { Texts } from '../../../core/languages/en.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { ghanaNumbers, guessNetwork, isAmong, type Network, type Numbers } from '../../../core/phone.ts'
import { fill, unbroken } from '../../../core/text.ts'
import { attemptOf, labelOf, offerOf, type View } from '../page/view.ts'

// How the form of a payment is filled in, and what is wrong with it.
export type Form = {
  chosen?: string // a payment_method
  typed: Readonly<Record<string, string>> // by the name of the field, by this visitor
  onFile?: NumberOnFile
  faults: readonly FormFault[]
}
// A number that the gateway knows already. Whoever has the link sees the page, so it stands there masked; the form says
// which number it is: of the request, or of the attempt with this number.
export type NumberOnFile = { from: string; number: string }
// Of the form itself, when the field is empty. What only time can cure is no field's fault.
export type FormFault = { field: string; words: string; lasting?: true }

// Several ways ask for a phone, and a form is sent whole: each way's fields have names of their own.
export const fieldOf = (payment_method: string, ask: string) => `${payment_method}.${ask}`

type AskWords = { label: string; hint?: string }

// The hint beside a phone number is of the country whose numbers the payment method takes.
export function askWords(ask: FormField, t: Texts, lang: Lang, numbers: Numbers = ghanaNumbers): AskWords {
  const known: Readonly<Record<string, AskWords>> = t.fields
  const { label, hint } = known[ask.name] ?? ask.words?.[lang] ?? ask.words?.en ?? { label: ask.name }
  if (hint === undefined || ask.kind !== 'phone') return { label, hint }
  return { label, hint: fill(hint, { example: unbroken(numbers.example), code: numbers.country }) }
}

export function faultWords(view: View, way: Way, { field, fault }: Fault): FormFault {
  const { t, lang } = view
  const ask = way.fields.find(({ name }) => name === field)
  const label = ask ? askWords(ask, t, lang).label : field
  const { region, example } = way.numbers ?? ghanaNumbers
  const country = new Intl.DisplayNames(t.locale, { type: 'region' }).of(region) ?? region
  const words = fill(t.faults[fault], {
    label,
    way: labelOf(view, way.payment_method),
    country,
    example: unbroken(example),
  })
  return { field: fieldOf(way.payment_method, field), words }
}

export const onFileField = 'on_file'

// The number that a form means. A card that a provider reported is no number.
export function numberOnFile({ checkout }: View, from: string | undefined): NumberOnFile | undefined {
  if (!from) return undefined
  const number =
    from === 'request'
      ? (checkout.pymt_instrument ?? checkout.number)
      : checkout.attempts.find(attempt => String(attempt.number) === from)?.instrument
  return number?.startsWith('+') ? { from, number } : undefined
}

// Whether this number can have the wallet: a number of another country is not offered.
export const takesNumber = ({ fields, numbers }: Pick<Way, 'fields' | 'numbers'>, number: string) =>
  fields.some(({ kind }) => kind === 'phone') && (!numbers || isAmong(number, numbers))

// A form that nobody has touched. It offers the number of the last attempt or of the request, unless that was wrong.
export function freshForm(view: View, again: string | undefined): Form {
  const last = again === 'same' || again === 'number' ? attemptOf(view) : undefined
  if (again === 'number') return { chosen: last?.payment_method, typed: {}, faults: [] }
  const onFile = (last && numberOnFile(view, String(last.number))) ?? numberOnFile(view, 'request')
  const chosen = again === 'other' ? undefined : (last?.payment_method ?? likelyWay(view, onFile?.number))
  return { chosen, typed: {}, onFile, faults: [] }
}

// A form as it was sent, to be shown again.
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

function likelyWay({ checkout: { offers } }: View, number: string | undefined): string | undefined {
  const network = number && guessNetwork(number)
  const way = offers.length === 1 ? offers[0] : network && offers.find(offer => offer.network === network)
  return way ? way.payment_method : undefined
}

// The two digits after the zero that are this network's, for the script to guess with.
export const prefixesOf = (network: Network) =>
  Array.from({ length: 90 }, (_, at) => at + 10)
    .filter(prefix => guessNetwork(`+233${prefix}0000000`) === network)
    .join(' ')

// Only the fields of the chosen way count; the others were hidden. A phone number that was left empty is the one on file.
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
