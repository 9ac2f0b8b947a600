import { type Reason, reasons } from '../../channel/reason.ts'
import { wayName } from '../../channel/wayNames.ts'
import { fill } from '../../text.ts'
import type { LetterFacts, Mail } from '../letter.ts'
import type { LetterTexts } from './en.ts'
import { type LetterLang, letterLang, letterLanguages } from './languages.ts'
import { mailHtml } from './mailHtml.ts'
import { type MailFact, mailText, type Sheet } from './mailText.ts'
import { amountWords, cut, looksLikeLink, oneLine, plainDescription, plainName, timeWords } from './plain.ts'

const maxSubject = 120

// What a customer reads about the end of a payment.
export function mail(facts: LetterFacts, lang: string): Mail {
  const sheet = sheetOf(facts, letterLang(lang))
  return { subject: sheet.subject, text: mailText(sheet), html: mailHtml(sheet) }
}

function sheetOf(facts: LetterFacts, lang: LetterLang): Sheet {
  const t = letterLanguages[lang]
  const shop = plainName(facts.merchant_name) || t.somebody
  const amount = amountWords(facts.currency, facts.amount)
  const test = facts.mode === 'test'
  return {
    lang,
    dir: t.dir,
    subject: cut((test ? 'TEST ' : '') + fill(t.subjects[facts.topic], { amount, shop }), maxSubject),
    banner: test ? t.mail.test : '',
    tone: facts.topic === 'paid' ? 'good' : facts.topic === 'failed' ? 'bad' : 'quiet',
    ...said(facts, t, shop),
    amount,
    facts: factsOf(facts, t, shop).filter(([, value]) => value !== ''),
    button: facts.topic === 'paid' ? t.mail.see_receipt : t.mail.see_payment,
    link: facts.link,
    foot: [t.mail.pin, t.mail.why_you, t.mail.secured],
  }
}

function said(facts: LetterFacts, t: LetterTexts, shop: string): Pick<Sheet, 'title' | 'words'> {
  const words = (...texts: string[]) => texts.map(text => fill(text, { shop }))
  if (facts.topic === 'paid') return { title: t.mail.paid, words: words(t.mail.paid_words) }
  if (facts.topic === 'cancelled') {
    const happened = `${t.mail.cancelled_words} ${t.mail.nothing_taken}`
    return { title: t.mail.cancelled, words: words(happened, t.mail.late, t.mail.start_again) }
  }
  const reason = reasonOf(facts.status_reason)
  return { title: t.reasons[reason], words: words(...whatNow(reason, t)) }
}

function whatNow(reason: Reason, { mail: t }: LetterTexts): string[] {
  if (reason === 'given_up') return [t.keep_reference, t.late] // nobody can promise that nothing was taken
  const next = reason === 'expired' || reason === 'cancelled' ? t.start_again : t.try_again
  return [`${t.nothing_taken} ${t.late}`, next]
}

// The payment keeps the merchant's sentence; the customer's stands in the language file under the same word.
function reasonOf(sentence: string): Reason {
  const words = Object.keys(reasons) as Reason[]
  return words.find(word => reasons[word] === sentence) ?? 'refused'
}

function factsOf(facts: LetterFacts, t: LetterTexts, shop: string): MailFact[] {
  const { payment_method, payment_time, description, invoice_id, tx_reference } = facts
  const paid = facts.topic === 'paid'
  return [
    [paid ? t.facts.paid_to : t.facts.to, shop],
    [t.facts.description, plainDescription(description ?? '')],
    [t.facts.invoice, looksLikeLink(invoice_id) ? '' : oneLine(invoice_id)],
    [paid ? t.facts.paid_with : t.facts.tried_with, payment_method ? methodName(payment_method, t) : ''],
    [t.facts.when, paid && payment_time ? timeWords(payment_time, t.locale) : ''],
    [t.facts.reference, oneLine(tx_reference)],
  ]
}

// What is no brand has a name in each language.
function methodName(payment_method: string, { names }: LetterTexts): string {
  const known: Readonly<Record<string, string>> = names
  return known[payment_method] ?? oneLine(wayName(payment_method))
}
