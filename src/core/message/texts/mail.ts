import type { Texts } from '../../languages/en.ts'
import { chosenLang, type Lang, languages } from '../../languages/languages.ts'
import { localizedMoney } from '../../money.ts'
import { paymentMethodName } from '../../provider/paymentMethod.ts'
import { type Reason, reasons } from '../../provider/reason.ts'
import { fill } from '../../text.ts'
import type { MessageFacts } from '../message.ts'
import { type Mail, type MailContent, type MailFact, renderMail } from './mailLayout.ts'
import { cut, looksLikeLink, oneLine, plainDescription, plainName, timeWords } from './plain.ts'

const maxSubject = 120

// The mail to a customer about the outcome of a payment.
export const customerMail = (facts: MessageFacts, lang: string): Mail =>
  renderMail(contentOf(facts, chosenLang(lang) ?? 'en'))

function contentOf(facts: MessageFacts, lang: Lang): MailContent {
  const t = languages[lang]
  const { subjects, mail: texts, unnamed_shop } = t.messages
  const shop = plainName(facts.merchant_name) || unnamed_shop
  const amount = localizedMoney(facts.amount, facts.currency, t.locale)
  const test = facts.mode === 'test'
  return {
    lang,
    dir: t.dir,
    subject: cut((test ? 'TEST ' : '') + fill(subjects[facts.topic], { amount, shop }), maxSubject),
    banner: test ? texts.test : '',
    tone:
      facts.topic === 'paid' || facts.topic === 'refunded'
        ? 'good'
        : facts.topic === 'failed'
          ? 'bad'
          : 'quiet',
    ...titleAndText(facts, t, shop),
    amount,
    facts: factsOf(facts, t, shop).filter(([, value]) => value !== ''),
    button: facts.topic === 'paid' || facts.topic === 'refunded' ? texts.see_receipt : texts.see_payment,
    link: facts.link,
    foot: [texts.pin, texts.why_you, texts.secured],
  }
}

function titleAndText(
  facts: MessageFacts,
  t: Texts,
  shop: string,
): Pick<MailContent, 'title' | 'paragraphs'> {
  const { mail: texts } = t.messages
  const fillAll = (...paragraphs: string[]) => paragraphs.map(text => fill(text, { shop }))
  if (facts.topic === 'paid') return { title: texts.paid, paragraphs: fillAll(texts.paid_text) }
  if (facts.topic === 'refunded')
    return { title: texts.refunded, paragraphs: fillAll(texts.refunded_text, texts.refunded_when) }
  if (facts.topic === 'cancelled') {
    const what = `${texts.cancelled_text} ${texts.nothing_taken}`
    return { title: texts.cancelled, paragraphs: fillAll(what, texts.late, texts.start_again) }
  }
  const reason = reasonOf(facts.status_reason)
  return { title: t.reasons[reason].title, paragraphs: fillAll(...adviceAfter(reason, t)) }
}

function adviceAfter(reason: Reason, { messages: { mail: t }, reasons: sentences }: Texts): string[] {
  if (reason === 'reversed') return [sentences.reversed.advice]
  if (reason === 'given_up') return [t.keep_reference, t.late] // money may have been taken
  const next = reason === 'expired' || reason === 'cancelled' ? t.start_again : t.try_again
  return [`${t.nothing_taken} ${t.late}`, next]
}

// The payment stores the sentence for merchants. The one for customers is in the language file under the same key.
function reasonOf(sentence: string): Reason {
  const known = Object.keys(reasons) as Reason[]
  return known.find(reason => reasons[reason] === sentence) ?? 'refused'
}

function factsOf(facts: MessageFacts, t: Texts, shop: string): MailFact[] {
  const { facts: names } = t.messages
  const { payment_method, payment_time, description, invoice_id, tx_reference } = facts
  const paid = facts.topic === 'paid'
  if (facts.topic === 'refunded') return refundFacts(facts, t, shop)
  return [
    [paid ? names.paid_to : names.to, shop],
    [names.description, plainDescription(description ?? '')],
    [names.invoice, looksLikeLink(invoice_id) ? '' : oneLine(invoice_id)],
    [paid ? names.paid_with : names.tried_with, payment_method ? methodName(payment_method, t) : ''],
    [names.when, paid && payment_time ? timeWords(payment_time, t.locale) : ''],
    [names.reference, oneLine(tx_reference)],
    ...returnedFacts(facts, t),
  ]
}

function refundFacts(facts: MessageFacts, t: Texts, shop: string): MailFact[] {
  const { facts: names } = t.messages
  const { payment_method, refunded_at, invoice_id, tx_reference } = facts
  return [
    [names.returned_by, shop],
    [names.invoice, looksLikeLink(invoice_id) ? '' : oneLine(invoice_id)],
    [names.returned_to, payment_method ? methodName(payment_method, t) : ''],
    [names.when, refunded_at ? timeWords(refunded_at, t.locale) : ''],
    [names.reference, oneLine(tx_reference)],
  ]
}

const returnedFacts = ({ returned = [], currency }: MessageFacts, t: Texts): MailFact[] =>
  returned.map(({ amount, at }) => [
    t.messages.facts.returned,
    `${localizedMoney(amount, currency, t.locale)}, ${timeWords(at, t.locale)}`,
  ])

// A method that is not a brand has a translated name.
function methodName(payment_method: string, { names }: Texts): string {
  const known: Readonly<Record<string, string>> = names
  return known[payment_method] ?? oneLine(paymentMethodName(payment_method))
}
