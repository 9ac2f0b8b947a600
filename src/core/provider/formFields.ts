import { isAmong, type Numbers, parsePhone, withoutDecoration } from '../phone.ts'
import { isEmail, isPlainText } from '../text.ts'
import type { FormField, PaymentMethod } from './paymentMethod.ts'

// What is wrong with one field of the form; the page has the words.
export type FieldFault = {
  field: string
  fault:
    | 'missing'
    | 'not_a_phone'
    | 'not_a_wallet'
    | 'not_digits'
    | 'too_long'
    | 'not_text'
    | 'not_an_email'
    | 'not_a_date'
}
export type FormInput = { given: Record<string, string>; instrument: string | null; faults: FieldFault[] }

const maxText = 60
const maxEmail = 254

// What the merchant has sent with the payment.
export type KnownPayer = { email: string | null; name: string | null }

// What the customer has to be asked for.
export const fieldsToAsk = (fields: readonly FormField[], known: KnownPayer): readonly FormField[] =>
  fields.filter(({ unlessKnown }) => !unlessKnown || !known[unlessKnown])

// Reads what a way or a step asks for from what the customer typed. A phone number comes back as E.164.
export function readFormFields(
  method: Pick<PaymentMethod, 'fields' | 'numbers'>,
  input: Readonly<Record<string, string>>,
): FormInput {
  const read: FormInput = { given: {}, instrument: null, faults: [] }
  for (const ask of method.fields) {
    const text = (input[ask.name] ?? '').trim()
    if (text === '') {
      if (!ask.optional) read.faults.push({ field: ask.name, fault: 'missing' })
      continue
    }
    const value = readFormField(ask, text, method.numbers)
    if (typeof value !== 'string') read.faults.push(value)
    else read.given[ask.name] = value
    if (ask.kind === 'phone' && typeof value === 'string') read.instrument ??= value
  }
  return read
}

function readFormField(ask: FormField, text: string, numbers?: Numbers): string | FieldFault {
  if (ask.kind === 'phone') return readPhone(ask.name, text, numbers)
  if (!isPlainText(text)) return { field: ask.name, fault: 'not_text' }
  if (ask.kind === 'email' && !isEmail(text)) return { field: ask.name, fault: 'not_an_email' }
  if (ask.kind === 'date' && !isDate(text)) return { field: ask.name, fault: 'not_a_date' }
  const value = ask.kind === 'digits' ? withoutDecoration(text) : text
  if (ask.kind === 'digits' && !/^\d+$/.test(value)) return { field: ask.name, fault: 'not_digits' }
  return value.length > (ask.maxLength ?? (ask.kind === 'email' ? maxEmail : maxText))
    ? { field: ask.name, fault: 'too_long' }
    : value
}

// As a browser gives it. What the calendar does not have, like the 31st of February, is read as a day of March.
const isDate = (text: string) => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

function readPhone(field: string, text: string, numbers?: Numbers): string | FieldFault {
  const phone = parsePhone(text, numbers?.region)
  if (phone === undefined) return { field, fault: 'not_a_phone' }
  return !numbers || isAmong(phone, numbers) ? phone : { field, fault: 'not_a_wallet' }
}
