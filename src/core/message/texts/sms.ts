import { fill } from '../../text.ts'
import type { LetterFacts } from '../letter.ts'
import { isGsm, maxSeptets, septets, toGsm } from './gsm.ts'
import { letterLang, letterLanguages } from './languages.ts'
import { amountWords, gsmName, shorten } from './plain.ts'

const leastName = 12 // places: before a name gets shorter than that, other words go

// What a customer's phone shows: one segment, whatever the names are. The link is whole or not there.
export function smsText(facts: LetterFacts, lang: string): string {
  const t = letterLanguages[letterLang(lang)]
  const name = gsmName(facts.merchant_name) ?? toGsm(t.somebody)
  const forms = formsOf(facts, t.sms[facts.topic])
  const form = forms.find(one => roomOf(one) >= Math.min(leastName, septets(name))) ?? forms.at(-1) ?? ''
  const shop = shorten(name, roomOf(form))
  return form.replace(shop.endsWith('.') ? /\{shop\}\.?/ : '{shop}', () => shop) // "Ama Ltd." ends the sentence
}

const roomOf = (form: string) => maxSeptets - septets(form.replace('{shop}', ''))

// Everything but the name.
function formsOf({ mode, amount, currency, tx_reference, link }: LetterFacts, forms: readonly string[]) {
  const values = {
    amount: amountWords(currency, amount),
    reference: toGsm(tx_reference),
    link,
    shop: '{shop}',
  }
  return forms
    .filter(form => isGsm(link) || !form.includes('{link}'))
    .map(form => (mode === 'test' ? 'TEST ' : '') + fill(toGsm(form), values))
}
