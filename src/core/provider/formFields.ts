import { isAmong, type Numbers, parsePhone, withoutDecoration } from '../phone.ts'
import { isEmail, isPlainText } from '../text.ts'
import type { FormField, PaymentMethod } from './paymentMethod.ts'

// What is wrong with one field of the form. The page has the text.
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
type FormInput = { given: Record<string, string>; instrument: string | null; faults: FieldFault[] }

const maxText = 60
const maxEmail = 254

// Details that the merchant has sent with the payment.
export type KnownPayer = { email: string | null; name: string | null }

// The fields that the customer has to fill in.
export const fieldsToAsk = (fields: readonly FormField[], known: KnownPayer): readonly FormField[] =>
  fields.filter(({ unlessKnown }) => !unlessKnown || !known[unlessKnown])

// Reads the customer's input for the fields of a payment method or a step. A phone number is returned as E.164.
export function readFormFields(
  method: Pick<PaymentMethod, 'fields' | 'numbers'>,
  input: Readonly<Record<string, string>>,
): FormInput {
  const read: FormInput = { given: {}, instrument: null, faults: [] }
  for (const field of method.fields) {
    const text = (input[field.name] ?? '').trim()
    if (text === '') {
      if (!field.optional) read.faults.push({ field: field.name, fault: 'missing' })
      continue
    }
    const value = readFormField(field, text, method.numbers)
    if (typeof value !== 'string') read.faults.push(value)
    else read.given[field.name] = value
    if (field.kind === 'phone' && typeof value === 'string') read.instrument ??= value
  }
  return read
}

function readFormField(
  { name: field, kind, maxLength }: FormField,
  text: string,
  numbers?: Numbers,
): string | FieldFault {
  if (kind === 'phone') return readPhone(field, text, numbers)
  if (!isPlainText(text)) return { field, fault: 'not_text' }
  if (kind === 'email' && !isEmail(text)) return { field, fault: 'not_an_email' }
  if (kind === 'date' && !isDate(text)) return { field, fault: 'not_a_date' }
  const value = kind === 'digits' ? withoutDecoration(text) : text
  if (kind === 'digits' && !/^\d+$/.test(value)) return { field, fault: 'not_digits' }
  return value.length > (maxLength ?? (kind === 'email' ? maxEmail : maxText))
    ? { field, fault: 'too_long' }
    : value
}

// The format of a browser's date field. Date.parse reads the 31st of February as a day of March, so the result is compared.
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
