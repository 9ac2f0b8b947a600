import type { Letter, Messenger, MessengerSettings, MessengerTools, Sent } from '../core/message/messenger.ts'
import { tidy, warnOnChange } from './common/warnOnChange.ts'
import { call } from './smsHttp/call.ts'
import { readSettings } from './smsHttp/settings.ts'
import { fill, type Values, valuesOf } from './smsHttp/template.ts'
import { verdictOf } from './smsHttp/verdict.ts'

export { readSettings }

const usualDeadlineMs = 15_000

// SMS by a provider with an HTTP interface. What it wants to hear is said in the settings.
export default function smsHttp(
  settings: MessengerSettings,
  tools: MessengerTools,
  deadlineMs = usualDeadlineMs,
): Messenger | undefined {
  const read = readSettings(settings, tools)
  if (!read) return undefined
  const { method, url, headers, body, encoding, from } = read
  const operator = warnOnChange(tools, 'SMS')

  const post = (values: Values) => {
    const init: RequestInit = { method, headers: headersOf(headers, values) }
    if (body) init.body = fill(body, values, encoding)
    return call(fill(url, values, 'form'), init, deadlineMs)
  }

  async function send(letter: Letter): Promise<Sent> {
    if (!/^\+\d{7,15}$/.test(letter.to)) return { state: 'never', words: 'This is not a phone number.' }
    try {
      const { sent, fault } = verdictOf(
        await post(valuesOf(letter, from)),
        read as typeof read & {},
        tools.clock?.().getTime() ?? Date.now(),
      )
      if (fault) operator.trouble(fault)
      else if (sent.state === 'sent') operator.well()
      return sent
    } catch (error) {
      const words = wordsOf(error as Error)
      operator.trouble(words)
      return { state: 'later', words }
    }
  }

  return { medium: 'sms', send, close: async () => {} }
}

// Of the values only the id is of use in a header, as an idempotency key.
const headersOf = (headers: Values, { id = '' }: Values) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, { id }, 'form')]))

const wordsOf = ({ message, cause }: Error) =>
  tidy(cause instanceof Error ? `${message}: ${cause.message}` : message)
