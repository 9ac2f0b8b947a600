import { septets, toGsm } from './gsm.ts'

const maxName = 60
const maxDescription = 120
const maxRead = 1000 // of any text; the rest could not be shown

// One line of text, as it looks: without what a phone or a mail reader would obey instead of showing it.
export const oneLine = (text: string) =>
  text
    .slice(0, maxRead)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}\p{Co}\p{Cn}\ufffd]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()

export function cut(text: string, max: number): string {
  const all = [...text]
  if (all.length <= max) return text
  const kept = all.slice(0, max - 3).join('')
  return `${kept.trimEnd()}...`
}

// Phones and mail readers make links of words. An operator gave the merchant its name, so `shop.example` may stay, but
// it leads to no page of somebody's choice.
export const plainName = (name: string) => cut(oneLine(withoutPaths(oneLine(name))), maxName)

const withoutPaths = (text: string) =>
  text.replace(/[a-z][a-z0-9+.-]{0,20}:\/+/gi, ' ').replace(/([.。．｡]\p{L}[\p{L}\d-]*)[/?#:@]\S*/gu, '$1')

// A description comes from whoever asked for the payment, perhaps unsigned: none of its words may become a link.
export const plainDescription = (description: string) =>
  cut(
    oneLine(withoutPaths(oneLine(description)).replace(/(?<=[\p{L}\d-])[.。．｡](?=\p{L})/gu, '·')),
    maxDescription,
  )

// Such an invoice id is left out: a changed one would be wrong, and the reference says which payment it is.
export const looksLikeLink = (text: string) => /:\/\/|[\p{L}\d-]\.\p{L}{2}/u.test(text)

// A name for an SMS; undefined when too little of it would be left to recognise.
export function gsmName(name: string): string | undefined {
  const plain = plainName(name)
  const letters = (plain.match(/[\p{L}\p{N}]/gu) ?? []).length
  const spelled = toGsm(plain)
  const lost = (spelled.match(/\?/g) ?? []).length - (plain.match(/\?/g) ?? []).length
  return spelled !== '' && lost * 2 < Math.max(letters, 1) ? spelled : undefined
}

// At most so many places of an SMS.
export function shorten(text: string, places: number): string {
  if (septets(text) <= places) return text
  const kept = [...text]
  while (kept.length > 0 && septets(kept.join('')) > places - 3) kept.pop()
  return `${kept.join('').trimEnd()}...`
}

// Ghana's time is GMT, and a message is read anywhere.
export function timeWords(time: Date, locale: string): string {
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(time)
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' }).format(time)
  return `${date}, ${clock} GMT`
}
