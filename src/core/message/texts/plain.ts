const maxName = 60
const maxDescription = 120
const maxRead = 1000 // longer texts would be cut anyway

// One line without control and formatting characters.
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
  return `${all
    .slice(0, max - 3)
    .join('')
    .trimEnd()}...`
}

// Phones and mail readers turn words into links. The operator sets the merchant's name, so `shop.example` may stay, but
// without a path.
export const plainName = (name: string) => cut(oneLine(withoutPaths(oneLine(name))), maxName)

const withoutPaths = (text: string) =>
  text.replace(/[a-z][a-z0-9+.-]{0,20}:\/+/gi, ' ').replace(/([.。．｡]\p{L}[\p{L}\d-]*)[/?#:@]\S*/gu, '$1')

// A description may come from an unsigned request, so none of it may become a link.
export const plainDescription = (description: string) =>
  cut(
    oneLine(withoutPaths(oneLine(description)).replace(/(?<=[\p{L}\d-])[.。．｡](?=\p{L})/gu, '·')),
    maxDescription,
  )

// An invoice id that looks like a link is left out: a changed id would be wrong, and the reference identifies the payment.
export const looksLikeLink = (text: string) => /:\/\/|[\p{L}\d-]\.\p{L}{2}/u.test(text)

// In GMT, which is Ghana's time, because a message may be read in any time zone.
export function timeWords(time: Date, locale: string): string {
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(time)
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' }).format(time)
  return `${date}, ${clock} GMT`
}
