import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min'

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

// The characters that people type between digits, or that phones insert when a number is copied: spaces, dashes, dots and
// brackets of all kinds, and invisible direction marks. There are no control characters. The text is the inside of a
// character class in any regular expression dialect.
export const decoration =
  ' ().\\[\\]\\u00a0\\u00ad\\u061c\\u1680\\u2000-\\u2015\\u202a-\\u202f\\u205f\\u2060\\u2066-\\u2069\\u2212\\u3000' +
  '\\ufe58\\ufe63\\ufeff\\uff08\\uff09\\uff0d\\uff0e-'

const decorations = new RegExp(`[${decoration}]`, 'g')
const wide = /[\uff0b\uff10-\uff19]/g // fullwidth plus and digits of East Asian keyboards
const wideBy = 0xfee0

// For comparing numbers and references.
export const withoutDecoration = (text: string) =>
  text.replace(decorations, '').replace(wide, char => String.fromCharCode(char.charCodeAt(0) - wideBy))

// The E.164 form of a typed number, or undefined. A number without a country code is read by the rules of `region`. Only
// impossible numbers are refused, because numbering plans change faster than the library's tables.
export function parsePhone(text: string, region = 'GH'): string | undefined {
  const digits = withoutDecoration(text).replace(/^00/, '+')
  if (region === 'GH') {
    const ghana = /^(?:0|\+?2330?)?([1-9]\d{8})$/.exec(digits) // some write the zero after the country code too
    if (ghana) return `+233${ghana[1]}`
  }
  const isNational = region !== 'GH' && /^\d{5,15}$/.test(digits)
  if (!isNational && !/^\+[1-9]\d{6,14}$/.test(digits)) return undefined
  const phone = parsePhoneNumberFromString(digits, {
    defaultCountry: isNational ? (region as CountryCode) : undefined,
    extract: false,
  })
  return phone?.isPossible() ? phone.number : undefined
}

// How a number in E.164 form is written: the calling code, the digits behind it, and what is dialled before those within the
// country (0 in Ghana).
export function partsOfPhone(phone: string) {
  const parsed = parsePhoneNumberFromString(phone)
  const national: string = parsed?.nationalNumber ?? phone.replace(/\D/g, '')
  const dialled = parsed?.formatNational().replace(/\D/g, '') ?? national
  const trunk = dialled.endsWith(national) ? dialled.slice(0, -national.length) : ''
  return { country: parsed?.countryCallingCode ?? '', national, trunk }
}

// The numbers that can have a wallet: those of one country, optionally limited by the beginning and the length of the
// national part.
export type Numbers = {
  region: string // ISO 3166 code of the country: GH
  country: string // its calling code: 233
  begin?: readonly string[]
  digits?: number
  example: string // as people there write one
}

export const ghanaNumbers: Numbers = {
  region: 'GH',
  country: '233',
  begin: ['2', '5'],
  digits: 9,
  example: '024 412 3456',
}

export function isAmong(phone: string, { country, begin, digits }: Numbers): boolean {
  if (!phone.startsWith(`+${country}`)) return false
  const national = phone.slice(country.length + 1)
  return (
    (digits === undefined || national.length === digits) &&
    (begin === undefined || begin.some(first => national.startsWith(first)))
  )
}

// In national format for Ghana (030 255 0100), in international format otherwise.
export function writePhone(phone: string): string {
  const [, ...parts] = /^\+233(\d{2})(\d{3})(\d{4})$/.exec(phone) ?? []
  return parts.length > 0
    ? `0${parts.join(' ')}`
    : (parsePhoneNumberFromString(phone)?.formatInternational() ?? phone)
}

export function guessNetwork(phone: string): Network | undefined {
  return phone.startsWith('+233') ? prefixes[`0${phone.slice(4, 6)}`] : undefined
}
