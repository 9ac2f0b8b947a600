import { parsePhone, withoutDecoration } from '../phone.ts'
import { cleanId, isEmail, isPlainText } from '../text.ts'
import { parseReference } from './reference.ts'

const maxTextLength = 500 // of a pasted checkout address with its query

const invisible = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g // characters that copied text may contain
const token = /(?:^|\/checkout\/)([0-9a-z]{42})(?:$|[/?#])/
const attempt = /^[0-9a-z]{36}$/

// What a text that support staff typed or pasted can be. One text may be several, such as a phone number and an invoice id.
export type SearchTerms = {
  text: string // may be an invoice id
  reference?: string
  token?: string // of a checkout address
  phones: readonly string[] // in E.164 form
  email?: string
  providerRef?: string
  attempt_id?: string // the id of the order at the provider
}

// Undefined if nothing can have this text.
export function readSearchTerms(typed: string): SearchTerms | undefined {
  const text = typed.replace(invisible, '').trim()
  if (text === '' || text.length > maxTextLength || !isPlainText(text)) return undefined
  return {
    text,
    reference: parseReference(text),
    token: token.exec(text)?.[1],
    phones: phonesIn(text),
    email: isEmail(text) ? text : undefined,
    providerRef: cleanId(text),
    attempt_id: attempt.exec(text)?.[0],
  }
}

// A number without a plus may be of this country, or begin with a country code.
function phonesIn(text: string): string[] {
  const digits = withoutDecoration(text)
  const readings = [parsePhone(text), /^\d{9,15}$/.test(digits) ? parsePhone(`+${digits}`) : undefined]
  return [...new Set(readings.filter(phone => phone !== undefined))]
}
