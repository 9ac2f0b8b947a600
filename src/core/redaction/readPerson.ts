import { parsePhone } from '../phone.ts'
import { isEmail } from '../text.ts'
import type { Person } from './redact.ts'

const maxLength = 254

// The person of a phone number or email address that a user typed; undefined if it is neither.
export function readPerson(typed: string): Person | undefined {
  const text = typed.trim()
  if (text.length > maxLength) return undefined
  if (isEmail(text)) return { kind: 'email', value: text.toLowerCase() }
  const phone = parsePhone(text)
  return phone === undefined ? undefined : { kind: 'phone', value: phone }
}
