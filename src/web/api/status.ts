import { type Checked, check, type Question } from '../../actions/check.ts'
import { errorRecord, keyedAndFlatAnswer, keyedAnswer, statusLine, statusRecord } from '../../core/status.ts'
import { pairFields, readFields } from '../body.ts'
import { addressOf, type Ctx } from '../context.ts'
import { answerRefusal, errorBody, httpOf, isRefusal } from '../errors.ts'
import type { ApiOptions } from './initiate.ts'

// GET answers the keyed record and the flat one at once; POST, and the path without /v1, the keyed alone.
export const statusRoute = (options: ApiOptions, keyedOnly: boolean) => async (c: Ctx) => {
  const alone = keyedOnly || c.req.method === 'POST'
  let question: Question = {}
  try {
    question = await readQuestion(c)
    const { payment, masked } = await ask(options, c, question)
    const record = statusRecord(payment, options.gate.clock(), masked)
    const answer = alone ? keyedAnswer : keyedAndFlatAnswer
    return c.body(answer(payment, record), 200, { 'content-type': 'application/json' })
  } catch (error) {
    if (!isRefusal(error)) throw error
    const invoice_id = asText(question.invoice_id)
    if (invoice_id === '') return answerRefusal(c, error)
    const record = errorRecord(invoice_id, error.message)
    const flat = { ...record, ...errorBody(c, error) }
    return c.json({ [invoice_id]: record, ...(!alone && flat) }, httpOf(c, error))
  }
}

// The plain-text twin: <tx_reference>~<status>~<as_at>
export const statusLineRoute = (options: ApiOptions) => async (c: Ctx) => {
  const now = options.gate.clock()
  let question: Question = {}
  try {
    question = await readQuestion(c)
    const { payment } = await ask(options, c, question)
    return c.text(statusLine(payment.tx_reference, payment.status, now))
  } catch (error) {
    if (!isRefusal(error)) throw error
    return c.text(statusLine(asText(question.invoice_id), 'error', now), httpOf(c, error))
  }
}

async function ask(options: ApiOptions, c: Ctx, question: Question): Promise<Checked> {
  const checked = await check(options.gate, question, addressOf(c, options.trustedProxies))
  c.set('merchantId', checked.payment.merchant_id)
  return checked
}

const readQuestion = async (c: Ctx): Promise<Question> =>
  c.req.method === 'GET' ? pairFields(new URL(c.req.url).searchParams) : (await readFields(c)).fields

const asText = (value: unknown) => (typeof value === 'string' ? value : '')
