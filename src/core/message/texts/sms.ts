import { textsFor } from '../../languages/languages.ts'
import { localizedMoney } from '../../money.ts'
import { fill } from '../../text.ts'
import type { MessageFacts } from '../messageFacts.ts'
import { isGsm, maxSeptets, septets, toGsm } from './gsm.ts'
import { gsmName, shorten } from './plain.ts'

const leastName = 12 // places: before a name gets shorter than that, other words go

// What a customer's phone shows: one segment, whatever the names are. The link is whole or not there.
export function smsText(facts: MessageFacts, lang: string): string {
  const { messages: letters, locale } = textsFor(lang)
  const name = gsmName(facts.merchant_name) ?? toGsm(letters.unnamed_shop)
  const forms = formsOf(facts, letters.sms[facts.topic], locale)
  const form = forms.find(one => roomOf(one) >= Math.min(leastName, septets(name))) ?? forms.at(-1) ?? ''
  const shop = shorten(name, roomOf(form))
  return form.replace(shop.endsWith('.') ? /\{shop\}\.?/ : '{shop}', () => shop) // "Ama Ltd." ends the sentence
}

const roomOf = (form: string) => maxSeptets - septets(form.replace('{shop}', ''))

// Everything but the name.
function formsOf(facts: MessageFacts, forms: readonly string[], locale: string) {
  const { mode, amount, currency, tx_reference, link } = facts
  const values = {
    amount: toGsm(localizedMoney(amount, currency, locale)), // its alphabet has no space that does not break
    reference: toGsm(tx_reference),
    link,
    shop: '{shop}',
  }
  return forms
    .filter(form => isGsm(link) || !form.includes('{link}'))
    .map(form => (mode === 'test' ? 'TEST ' : '') + fill(toGsm(form), values))
}
