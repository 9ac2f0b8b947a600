import type { Fault } from '../../../core/channel/formFields.ts'
import type { FormField, Way } from '../../../core/channel/way.ts'
import type { Texts } from '../../../core/languages/en.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import {
  dialledIn,
  ghanaNumbers,
  guessNetwork,
  isAmong,
  type Network,
  type Numbers,
} from '../../../core/phone.ts'
import { fill, unbroken } from '../../../core/text.ts'
import { attemptOf, labelOf, offerOf, type View } from '../page/view.ts'

// How the form of a payment is filled in, and what is wrong with it.
export type Form = {
  chosen?: string // a payment_method
  typed: Readonly<Record<string, string>> // by the name of the field
  faults: readonly FormFault[]
}
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

// A form that nobody has touched. It knows the number that came with the request, or that of the last try, or that this
// one was wrong.
export function freshForm(view: View, again: string | undefined): Form {
  const { checkout } = view
  const last = again === 'same' || again === 'number' ? attemptOf(view) : undefined
  if (again === 'number') return { chosen: last?.payment_method, typed: {}, faults: [] }
  const phone = last?.instrument ?? checkout.pymt_instrument ?? checkout.number
  const number = phone?.startsWith('+') ? phone : undefined // what a provider told of a card is no number
  return {
    chosen: again === 'other' ? undefined : (last?.payment_method ?? likelyWay(view, number)),
    typed: number ? typedPhone(view, number) : {},
    faults: [],
  }
}

function likelyWay({ checkout: { offers } }: View, number: string | undefined): string | undefined {
  const network = number && guessNetwork(number)
  const way = offers.length === 1 ? offers[0] : network && offers.find(offer => offer.network === network)
  return way ? way.payment_method : undefined
}

// Where such a number can have the wallet: a number of another country is not filled in.
const typedPhone = ({ checkout }: View, number: string) =>
  Object.fromEntries(
    checkout.offers
      .filter(({ numbers }) => !numbers || isAmong(number, numbers))
      .flatMap(way =>
        way.fields
          .filter(ask => ask.kind === 'phone')
          .map(ask => [fieldOf(way.payment_method, ask.name), dialledIn(number, way.numbers?.region)]),
      ),
  )

// The two digits after the zero that are this network's, for the script to guess with.
export const prefixesOf = (network: Network) =>
  Array.from({ length: 90 }, (_, at) => at + 10)
    .filter(prefix => guessNetwork(`+233${prefix}0000000`) === network)
    .join(' ')

// Only the fields of the chosen way count; the others were hidden.
export function typedFor(view: View, payment_method: string, sent: Readonly<Record<string, string>>) {
  const fields = offerOf(view, payment_method)?.fields ?? []
  return Object.fromEntries(fields.map(({ name }) => [name, sent[fieldOf(payment_method, name)] ?? '']))
}
