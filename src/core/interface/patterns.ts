import { z } from 'zod'
import { decoration } from '../phone.ts'
import { isAtMost, isPlainText } from '../text.ts'
import { NumberText } from './json.ts'

// The rules of the parsers as patterns for JSON Schema. They use only syntax that every regular expression dialect has:
// no flags, no classes such as \s, no lookahead. A test compares each pattern with its parser.
const controls = '\\u0000-\\u001f\\u007f-\\u009f'
const otherControls = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f' // except tab and line breaks
const blanks =
  '\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'

export const plainText = `^[^${controls}]*$`
export const multilineText = `^[^${otherControls}]*$`
export const namedText = `^[^${controls}]*[^${blanks}][^${controls}]*$` // not only blanks

export const email = `^[^@${blanks}]+@[^@.${blanks}]+(\\.[^@.${blanks}]+)+$`

// Excludes the characters that no host has. A pattern cannot check more.
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
export const moreThanZero = '[1-9]' // for a text that matches `total`

export const quantity = '^[1-9][0-9]{0,3}(\\.0{1,6})?$'

export const hexDigest = '^[0-9A-Fa-f]{64}$'

export const anyCase = (values: readonly string[]) =>
  `^(${values.map(value => value.replace(/[a-z]/g, letter => `[${letter.toUpperCase()}${letter}]`)).join('|')})$`

// The schemas that several fields share.
export const numberField = z
  .custom<NumberText>(value => value instanceof NumberText, 'must be a number')
  .meta({ type: 'number' })

export const textField = (max: number, pattern = plainText) =>
  z
    .string('must be text')
    .refine(value => isAtMost(value, max), `at most ${max} characters`)
    .refine(isPlainText, 'must not contain control characters or broken Unicode')
    .meta({ maxLength: max, pattern })
