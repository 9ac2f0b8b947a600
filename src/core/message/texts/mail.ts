import type { Texts } from '../../languages/en.ts'
import { chosenLang, type Lang, languages } from '../../languages/languages.ts'
import { localizedMoney } from '../../money.ts'
import { paymentMethodName } from '../../provider/paymentMethodNames.ts'
import { type Reason, reasons } from '../../provider/reason.ts'
import { fill } from '../../text.ts'
import type { Mail, MessageFacts } from '../messageFacts.ts'
import { mailHtml } from './mailHtml.ts'
import { type MailFact, mailText, type Sheet } from './mailText.ts'
import { cut, looksLikeLink, oneLine, plainDescription, plainName, timeWords } from './plain.ts'

const maxSubject = 120

// What a customer reads about the end of a payment.
export function mail(facts: MessageFacts, lang: string): Mail {
  const sheet = sheetOf(facts, chosenLang(lang) ?? 'en')
  return { subject: sheet.subject, text: mailText(sheet), html: mailHtml(sheet) }
}

function sheetOf(facts: MessageFacts, lang: Lang): Sheet {
  const t = languages[lang]
  const { subjects, mail: words, unnamed_shop: somebody } = t.messages
  const shop = plainName(facts.merchant_name) || somebody
  const amount = localizedMoney(facts.amount, facts.currency, t.locale)
  const test = facts.mode === 'test'
  return {
    lang,
    dir: t.dir,
    subject: cut((test ? 'TEST ' : '') + fill(subjects[facts.topic], { amount, shop }), maxSubject),
    banner: test ? words.test : '',
    tone: facts.topic === 'paid' ? 'good' : facts.topic === 'failed' ? 'bad' : 'quiet',
    ...said(facts, t, shop),
    amount,
    facts: factsOf(facts, t, shop).filter(([, value]) => value !== ''),
    button: facts.topic === 'paid' ? words.see_receipt : words.see_payment,
    link: facts.link,
    foot: [words.pin, words.why_you, words.secured],
  }
}

function said(facts: MessageFacts, t: Texts, shop: string): Pick<Sheet, 'title' | 'words'> {
  const { mail: told } = t.messages
  const words = (...texts: string[]) => texts.map(text => fill(text, { shop }))
  if (facts.topic === 'paid') return { title: told.paid, words: words(told.paid_text) }
  if (facts.topic === 'cancelled') {
    const happened = `${told.cancelled_text} ${told.nothing_taken}`
    return { title: told.cancelled, words: words(happened, told.late, told.start_again) }
  }
  const reason = reasonOf(facts.status_reason)
  return { title: t.reasons[reason].title, words: words(...whatNow(reason, t)) }
}

function whatNow(reason: Reason, { messages: { mail: t }, reasons: sentences }: Texts): string[] {
  if (reason === 'reversed') return [sentences.reversed.advice]
  if (reason === 'given_up') return [t.keep_reference, t.late] // nobody can promise that nothing was taken
  const next = reason === 'expired' || reason === 'cancelled' ? t.start_again : t.try_again
  return [`${t.nothing_taken} ${t.late}`, next]
}

// The payment keeps the merchant's sentence; the customer's stands in the language file under the same word.
function reasonOf(sentence: string): Reason {
  const words = Object.keys(reasons) as Reason[]
  return words.find(word => reasons[word] === sentence) ?? 'refused'
}

function factsOf(facts: MessageFacts, t: Texts, shop: string): MailFact[] {
  const { facts: names } = t.messages
  const { payment_method, payment_time, description, invoice_id, tx_reference } = facts
  const paid = facts.topic === 'paid'
  return [
    [paid ? names.paid_to : names.to, shop],
    [names.description, plainDescription(description ?? '')],
    [names.invoice, looksLikeLink(invoice_id) ? '' : oneLine(invoice_id)],
    [paid ? names.paid_with : names.tried_with, payment_method ? methodName(payment_method, t) : ''],
    [names.when, paid && payment_time ? timeWords(payment_time, t.locale) : ''],
    [names.reference, oneLine(tx_reference)],
  ]
}

// What is no brand has a name in each language.
function methodName(payment_method: string, { names }: Texts): string {
  const known: Readonly<Record<string, string>> = names
  return known[payment_method] ?? oneLine(paymentMethodName(payment_method))
}
