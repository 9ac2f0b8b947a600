import type { Payment } from './payment.ts'

// A payment that a user of the dashboard took at the counter, instead of a request of the shop. Its invoice id begins with
// a prefix that requests of the API must not have, so that the two never meet.
export const takenPrefix = 'tollgate:'

export const isTaken = ({ invoice_id }: Pick<Payment, 'invoice_id'>) => invoice_id.startsWith(takenPrefix)

// The id of the form is the rest of the invoice id: a form that is submitted twice is one payment.
export const takenFormLength = 12
const formIdPattern = new RegExp(`^[0-9a-z]{${takenFormLength}}$`)
export const isTakenForm = (text: string) => formIdPattern.test(text)
export const takenInvoice = (form_id: string) => `${takenPrefix}${form_id}`

// Of one user at one merchant. A stolen session must not send a thousand requests to strangers' phones.
export const takenLimits = { inMinute: 10, open: 40 }
export const takenRateMs = 60_000
