import { parsePhoneNumberFromString } from 'libphonenumber-js/min'

// Ghana's mobile networks by prefix. Numbers can be ported, so this is a guess for the payer to correct.
const prefixes: Record<string, Network> = {
  '024': 'mtn',
  '025': 'mtn',
  '053': 'mtn',
  '054': 'mtn',
  '055': 'mtn',
  '059': 'mtn',
  '020': 'telecel',
  '050': 'telecel',
  '026': 'at',
  '027': 'at',
  '056': 'at',
  '057': 'at',
}

export type Network = 'mtn' | 'telecel' | 'at'

// The E.164 form of what a person typed, or undefined. Only the impossible is refused: number plans grow
// faster than anyone's tables.
export function parsePhone(text: string): string | undefined {
  const digits = text.replace(/[ -]/g, '')
  const ghana = /^(?:0|\+?233)([1-9]\d{8})$/.exec(digits)
  if (ghana) return `+233${ghana[1]}`
  if (!/^\+[1-9]\d{6,14}$/.test(digits)) return undefined
  const phone = parsePhoneNumberFromString(digits)
  return phone?.isPossible() ? phone.number : undefined
}

// As people write it: 030 255 0100, or with the country where that is another.
export function writePhone(phone: string): string {
  const [, ...parts] = /^\+233(\d{2})(\d{3})(\d{4})$/.exec(phone) ?? []
  return parts.length > 0
    ? `0${parts.join(' ')}`
    : (parsePhoneNumberFromString(phone)?.formatInternational() ?? phone)
}

export function guessNetwork(phone: string): Network | undefined {
  return phone.startsWith('+233') ? prefixes[`0${phone.slice(4, 6)}`] : undefined
}
