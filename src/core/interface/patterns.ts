import { decoration } from '../phone.ts'

// The rules of the parsers once more, as patterns: a JSON Schema can say them in no other way. They are written so that
// every dialect reads them alike: no flags, no classes such as \s, nothing that looks ahead. A test holds each against
// its parser.
const controls = '\\u0000-\\u001f\\u007f-\\u009f'
const otherControls = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f' // than a tab and line breaks
const blanks =
  '\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'

export const plainText = `^[^${controls}]*$`
export const plainLines = `^[^${otherControls}]*$`
export const namedText = `^[^${controls}]*[^${blanks}][^${controls}]*$` // more than blanks

export const email = `^[^@${blanks}]+@[^@.${blanks}]+(\\.[^@.${blanks}]+)+$`

// Of the host, what no host has; whether there can be such a host at all is more than a pattern can say.
const host = `([^#/:<>?@\\[\\\\\\]^|${blanks}]+|\\[[0-9A-Fa-f:.]+\\])`

export const url = `^[Hh][Tt][Tt][Pp][Ss]?://${host}(:[0-9]*)?([/?#][^\\\\${blanks}]*)?$`

const apart = `[${decoration}]*`
const zero = '[0\\uff10]'
const digit = `${apart}[0-9\\uff10-\\uff19]`
const nextDigit = `${apart}[1-9\\uff11-\\uff19]`
const abroad = `([+\\uff0b]|${zero}${apart}${zero})`
const ghana = `(${abroad}${apart})?[2\\uff12]${apart}[3\\uff13]${apart}[3\\uff13](${apart}${zero})?`

export const phone =
  `^${apart}((${zero}|${ghana})?${nextDigit}(${digit}){8}` +
  `|${abroad}${nextDigit}(${digit}){6,14})${apart}$`

export const total = '^[0-9]{1,12}(\\.[0-9]{1,2}0*)?$'
export const moreThanZero = '[1-9]' // of a total that fits the pattern above

export const quantity = '^[1-9][0-9]{0,3}(\\.0{1,6})?$'

export const hexDigest = '^[0-9A-Fa-f]{64}$'

export const anyCase = (words: readonly string[]) =>
  `^(${words.map(word => word.replace(/[a-z]/g, letter => `[${letter.toUpperCase()}${letter}]`)).join('|')})$`
