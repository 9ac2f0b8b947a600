import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import type { Letter } from '../../core/message/messenger.ts'

export const names = ['to', 'to_digits', 'to_local', 'text', 'from', 'id'] as const
export type Values = Readonly<Record<string, string>>
export type Encoding = 'json' | 'form' | 'xml'

const encode: Record<Encoding, (value: string) => string> = {
  json: value => JSON.stringify(value).slice(1, -1),
  form: encodeURIComponent,
  xml: value => value.replace(/[^\t\n\r\x20-\x7e]|[<>&"']/gu, xmlChar),
}

// What XML has no way to say is left out.
function xmlChar(char: string) {
  const code = char.codePointAt(0) ?? 0
  return code < 0x20 || code === 0xfffe || code === 0xffff ? '' : `&#${code};`
}

// In one go, so that a {to} in somebody's text stays what it is.
export const fill = (template: string, values: Values, encoding: Encoding) =>
  template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? whole : encode[encoding](value)
  })

export const valuesOf = ({ to, text, id }: Letter, from: string): Values => ({
  to,
  to_digits: to.replace(/^\+/, ''),
  to_local: parsePhoneNumberFromString(to)?.formatNational().replace(/\D/g, '') ?? to.replace(/^\+/, ''),
  text: text.toWellFormed(),
  from,
  id,
})
