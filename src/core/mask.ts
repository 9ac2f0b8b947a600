// Its owner recognises a masked value, and others cannot use it.
export const maskPhone = (phone: string) => {
  const local = phone.startsWith('+233') ? `0${phone.slice(4)}` : phone
  return `${local.slice(0, 3)} ••• ${local.slice(-4)}`
}

const longNumber = /\+?\d[\d .-]{5,}\d/g
const leastShown = 9 // with fewer digits, the mask would show almost all of them

// A long number in a sentence may be a phone, a wallet or a card.
export const maskNumbers = (sentence: string) =>
  sentence.replace(longNumber, number => {
    const digits = number.replace(/\D/g, '')
    if (digits.length < leastShown) return '•••'
    return maskPhone(digits.startsWith('233') ? `+${digits}` : digits)
  })

export type Contacts = { phones: readonly string[]; emails: readonly string[] }

// Masks the customer's number and email address in a text of a shop or provider, such as "We sent a code to ...". Other
// numbers stay: a text may name an account to pay to, or a code to dial.
export function maskContacts(text: string, { phones, emails }: Contacts): string {
  let masked = text
  for (const phone of phones) masked = masked.replace(spellingsOf(phone), maskPhone(phone))
  for (const email of emails)
    masked = masked.replace(new RegExp(escaped(email), 'gi'), () => maskMailbox(email))
  return masked
}

const between = '[ .()\\u00a0-]*' // what people write between digits

// Matches the number with and without its country code, and with the leading zero.
function spellingsOf(phone: string): RegExp {
  const digits = phone.slice(1)
  const country = Array.from(digits.slice(0, -8), digit => `(?:0?\\)?${digit}${between})?`).join('')
  return new RegExp(`(?<!\\d)\\+?0{0,2}${country}${digits.slice(-8).split('').join(between)}(?!\\d)`, 'g')
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

// Masks a wallet number. Card numbers arrive masked from the provider.
export const maskInstrument = (instrument: string | null) =>
  instrument?.startsWith('+') ? maskPhone(instrument) : instrument

export const maskEmail = (email: string) => `${email.slice(0, 1)}••@••`

export const maskRecipient = (recipient: string) =>
  recipient.startsWith('+') ? maskPhone(recipient) : maskEmail(recipient)

// For the customer's own page: the first letter, and the whole domain.
export const maskMailbox = (email: string) =>
  `${[...email][0] ?? ''}••@${email.slice(email.lastIndexOf('@') + 1)}`

export const maskName = (name: string) => `${[...name][0] ?? ''}•••`

// A merchant's own fields may hold personal data under any name. Only the names that the merchant lists as public keep
// their value; all others get an empty value.
export function maskExtra(
  extra: Readonly<Record<string, string>>,
  publicNames: readonly string[],
): Record<string, string> {
  const masked: Record<string, string> = { ...extra }
  for (const name of Object.keys(extra)) if (!publicNames.includes(name)) masked[name] = ''
  return masked
}
