import type { MessengerSettings, MessengerTools } from '../../core/message/messenger.ts'
import { readEach } from '../common/readEach.ts'
import { isLoopback } from '../common/serverUrl.ts'
import { type Encoding, fill, names } from './template.ts'
import { readUrl } from '../../core/text.ts'

export type SmsHttpSettings = {
  method: string
  url: string // a template, as the body and the headers are
  headers: Record<string, string>
  body?: string
  encoding: Encoding
  from: string
  ok?: RegExp
  id?: RegExp
}

const methods = ['POST', 'PUT', 'GET']

export function readSettings(
  settings: MessengerSettings,
  { warn }: MessengerTools,
): SmsHttpSettings | undefined {
  const { SMS_HTTP_URL: url, SMS_HTTP_METHOD: method = 'POST', SMS_HTTP_FROM: from = '' } = settings
  if (!url) return undefined
  const body = settings.SMS_HTTP_BODY || undefined
  const { headers, ok, id } = readEach({
    url: () => checkUrl(url, warn),
    method: () => checkMethod(method, body),
    headers: () => readHeaders(settings.SMS_HTTP_HEADERS || '{}'),
    ok: () => readPattern('SMS_HTTP_OK', settings.SMS_HTTP_OK),
    id: () => readPattern('SMS_HTTP_ID', settings.SMS_HTTP_ID, 'with a group in ( ) around the id'),
  })
  if (body && !headers['content-type']) headers['content-type'] = usualType(body)
  const encoding = encodingOf(headers['content-type'])
  checkPlaces(url, body, encoding, from)
  return { method, url, headers, body, encoding, from, ok, id }
}

function checkMethod(method: string, body: string | undefined) {
  if (!methods.includes(method)) throw new Error(`SMS_HTTP_METHOD: must be one of ${methods.join(', ')}.`)
  if (method === 'GET' && body) throw new Error('SMS_HTTP_BODY: a GET has none; put it into SMS_HTTP_URL.')
}

function checkUrl(text: string, warn: (words: string) => void) {
  const url = readUrl(text)
  if (!url || !/^https?:\/\/[^/?#{}\\]+(?:[/?]|$)/i.test(text))
    throw new Error('SMS_HTTP_URL: must be an http or https address; placeholders only after the host.')
  if (url.username || url.password)
    throw new Error('SMS_HTTP_URL: no user or password here; put an authorization into SMS_HTTP_HEADERS.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    warn('SMS_HTTP_URL: messages travel without encryption.')
}

function readHeaders(text: string): Record<string, string> {
  try {
    const read: unknown = JSON.parse(text)
    const given = Object.entries(read as Record<string, unknown>)
    if (Array.isArray(read) || given.some(([, value]) => typeof value !== 'string')) throw new Error('values')
    return Object.fromEntries(new Headers(read as Record<string, string>))
  } catch {
    throw new Error('SMS_HTTP_HEADERS: must be a JSON object of texts, like {"Authorization": "Bearer abc"}.')
  }
}

const usualType = (body: string) =>
  /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded'

function encodingOf(type = 'application/x-www-form-urlencoded'): Encoding {
  if (/^application\/([\w.-]+\+)?json\b/i.test(type)) return 'json'
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return 'form'
  if (/^(application|text)\/([\w.-]+\+)?xml\b/i.test(type)) return 'xml'
  throw new Error(
    'SMS_HTTP_HEADERS: the content-type must be JSON, XML or application/x-www-form-urlencoded.',
  )
}

// A template that forgets the text or the number would send nonsense to everybody.
function checkPlaces(url: string, body: string | undefined, encoding: Encoding, from: string) {
  const whole = url + (body ?? '')
  if (!whole.includes('{text}'))
    throw new Error('SMS_HTTP_BODY: {text} stands neither here nor in SMS_HTTP_URL.')
  if (!/\{to(_digits|_local)?\}/.test(whole))
    throw new Error('SMS_HTTP_BODY: none of {to}, {to_digits}, {to_local} stands here or in SMS_HTTP_URL.')
  if (whole.includes('{from}') && !from) throw new Error('SMS_HTTP_FROM: missing, and {from} is used.')
  if (!body || encoding !== 'json') return
  try {
    JSON.parse(fill(body, Object.fromEntries(names.map(name => [name, '"1"'])), 'json'))
  } catch {
    throw new Error('SMS_HTTP_BODY: is no JSON once it is filled in; placeholders stand inside of quotes.')
  }
}

function readPattern(name: string, text: string | undefined, rule = ''): RegExp | undefined {
  if (!text) return undefined
  try {
    const groups = new RegExp(`${text}|`).exec('')?.length ?? 0
    if (rule && groups < 2) throw new Error(rule)
    return new RegExp(text)
  } catch {
    throw new Error(`${name}: must be a regular expression${rule && ` ${rule}`}.`)
  }
}
