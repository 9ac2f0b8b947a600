import { textsFor } from '../../languages/languages.ts'
import { localizedMoney } from '../../money.ts'
import { fill } from '../../text.ts'
import type { MessageFacts } from '../message.ts'
import { plainName } from './plain.ts'

const minName = 12 // septets: a shorter variant of the text is chosen before the name is cut below this

// The SMS to a customer, always one segment. The link is complete or left out.
export function smsText(facts: MessageFacts, lang: string): string {
  const { messages, locale } = textsFor(lang)
  const name = gsmName(facts.merchant_name) ?? toGsm(messages.unnamed_shop)
  const variants = variantsOf(facts, messages.sms[facts.topic], locale)
  const variant =
    variants.find(one => roomOf(one) >= Math.min(minName, septets(name))) ?? variants.at(-1) ?? ''
  const shop = shorten(name, roomOf(variant))
  return variant.replace(shop.endsWith('.') ? /\{shop\}\.?/ : '{shop}', () => shop) // "Ama Ltd." ends the sentence
}

const roomOf = (variant: string) => maxSeptets - septets(variant.replace('{shop}', ''))

// The variants of the text with everything but the name filled in.
function variantsOf(facts: MessageFacts, variants: readonly string[], locale: string) {
  const { mode, amount, currency, tx_reference, link } = facts
  const values = {
    amount: toGsm(localizedMoney(amount, currency, locale)), // the SMS alphabet has no non-breaking space
    reference: toGsm(tx_reference),
    link,
    shop: '{shop}',
  }
  return variants
    .filter(variant => isGsm(link) || !variant.includes('{link}'))
    .map(variant => (mode === 'test' ? 'TEST ' : '') + fill(toGsm(variant), values))
}

// A name in the SMS alphabet; undefined if half of its letters would be lost.
function gsmName(name: string): string | undefined {
  const plain = plainName(name)
  const letters = (plain.match(/[\p{L}\p{N}]/gu) ?? []).length
  const spelled = toGsm(plain)
  const lost = (spelled.match(/\?/g) ?? []).length - (plain.match(/\?/g) ?? []).length
  return spelled !== '' && lost * 2 < Math.max(letters, 1) ? spelled : undefined
}

function shorten(text: string, maxLength: number): string {
  if (septets(text) <= maxLength) return text
  const chars = [...text]
  while (chars.length > 0 && septets(chars.join('')) > maxLength - 3) chars.pop()
  return `${chars.join('').trimEnd()}...`
}

// The SMS alphabet (GSM 03.38). One character outside it halves the length of a segment, so that the message costs twice
// as much. Characters of the extension table take two septets.
const basic = new Set(
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('^{}\\[~]|€')

export const maxSeptets = 160 // of one segment

const isGsm = (text: string) => [...text].every(one => basic.has(one) || extended.has(one))

export const septets = (text: string) => [...text].reduce((sum, one) => sum + (extended.has(one) ? 2 : 1), 0)

// What Unicode does not decompose: letters of the languages of Ghana and its neighbours, and typography.
const spellings: Readonly<Record<string, string>> = {
  ...pairs('ɛeƐEɔoƆOŋnŊNɖdƉDƒfƑFɣgƔGʋvƲVɓbƁBɗdƊDƙkƘKƴyƳYǝeƎEəeƏE'),
  ...pairs('ðdÐDđdĐDłlŁLıiħhĦHŧtŦTþtÞT'),
  ...pairs("’'‘'‛'′'ʼ'`'´'“\"”\"„\"″\"«\"»\"‹'›'"),
  ...pairs('–-—-‐-‑-‒-―-−-•-·.×x⁄/'),
  œ: 'oe',
  Œ: 'OE',
  '₵': 'GHS ',
  '©': '(c)',
  '®': '(R)',
}

function pairs(text: string) {
  const all = [...text]
  return Object.fromEntries(all.flatMap((one, at) => (at % 2 === 0 ? [[one, all[at + 1] ?? '']] : [])))
}

// The text in the SMS alphabet. A letter without an equivalent becomes `?`; an emoji is left out.
function toGsm(text: string): string {
  return [...text.normalize('NFC')].map(spell).join('').replace(/\s+/g, ' ').trim()
}

function spell(one: string): string {
  if (basic.has(one) || extended.has(one)) return one
  const known = spellings[one]
  if (known !== undefined) return known
  if (/\s/.test(one)) return ' '
  const base = one.normalize('NFKD').replace(/\p{M}/gu, '')
  if (isGsm(base)) return base
  return /[\p{L}\p{N}]/u.test(one) ? '?' : ''
}
