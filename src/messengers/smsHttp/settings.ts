import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import type { MessengerSettings, MessengerTools, OutboundMessage } from '../../core/message/messenger.ts'
import { readUrl } from '../../core/text.ts'
import { type OperatorUrl, operatorUrl } from '../../core/urlTrust.ts'
import { clientHeaders } from '../../net/outbound.ts'
import { isLoopback, readEach } from '../common/serverSettings.ts'

export type SmsHttpSettings = {
  method: (typeof methods)[number]
  base: OperatorUrl // the part of the URL before the path
  path: string // a template, as the body and the headers are
  headers: Record<string, string>
  body?: string
  encoding: Encoding
  from: string
  ok?: RegExp
  id?: RegExp
}

const methods = ['POST', 'PUT', 'GET'] as const

export function readSmsHttpSettings(
  settings: MessengerSettings,
  { warn }: MessengerTools,
): SmsHttpSettings | undefined {
  const { SMS_HTTP_URL: url, SMS_HTTP_FROM: from = '' } = settings
  if (!url) return undefined
  const body = settings.SMS_HTTP_BODY || undefined
  const { address, method, headers, ok, id } = readEach({
    address: () => splitUrl(url, warn),
    method: () => readMethod(settings.SMS_HTTP_METHOD, body),
    headers: () => readHeaders(settings.SMS_HTTP_HEADERS || '{}'),
    ok: () => readPattern('SMS_HTTP_OK', settings.SMS_HTTP_OK),
    id: () => readPattern('SMS_HTTP_ID', settings.SMS_HTTP_ID, 'with a group in ( ) around the id'),
  })
  if (body && !headers['content-type']) headers['content-type'] = defaultType(body)
  const encoding = encodingOf(headers['content-type'])
  checkPlaceholders(url, body, encoding, from)
  return { method, ...address, headers, body, encoding, from, ok, id }
}

function readMethod(text = 'POST', body: string | undefined) {
  const method = methods.find(one => one === text)
  if (!method) throw new Error(`SMS_HTTP_METHOD: must be one of ${methods.join(', ')}.`)
  if (method === 'GET' && body) throw new Error('SMS_HTTP_BODY: a GET has none; put it into SMS_HTTP_URL.')
  return method
}

// No placeholder may change the host, so the templates begin after it.
function splitUrl(text: string, warn: (text: string) => void) {
  const url = readUrl(text)
  const [, base, path] = /^(https?:\/\/[^/?#{}\\]+)([/?].*)?$/is.exec(text) ?? []
  if (!url || base === undefined)
    throw new Error('SMS_HTTP_URL: must be an http or https address; placeholders only after the host.')
  if (url.username || url.password)
    throw new Error('SMS_HTTP_URL: no user or password here; put an authorization into SMS_HTTP_HEADERS.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    warn('SMS_HTTP_URL: messages travel without encryption.')
  return { base: operatorUrl(base), path: path ?? '/' }
}

function readHeaders(text: string): Record<string, string> {
  const headers = parseHeaders(text)
  const reserved = Object.keys(headers).find(name => clientHeaders.has(name))
  if (reserved) throw new Error(`SMS_HTTP_HEADERS: ${reserved} is set by the gateway itself.`)
  return headers
}

function parseHeaders(text: string): Record<string, string> {
  try {
    const headers: unknown = JSON.parse(text)
    const values = Object.values(headers as Record<string, unknown>)
    if (Array.isArray(headers) || values.some(value => typeof value !== 'string')) throw new Error('values')
    return Object.fromEntries(new Headers(headers as Record<string, string>))
  } catch {
    throw new Error('SMS_HTTP_HEADERS: must be a JSON object of texts, like {"Authorization": "Bearer abc"}.')
  }
}

const defaultType = (body: string) =>
  /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded'

function encodingOf(type = 'application/x-www-form-urlencoded'): Encoding {
  if (/^application\/([\w.-]+\+)?json\b/i.test(type)) return 'json'
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return 'form'
  if (/^(application|text)\/([\w.-]+\+)?xml\b/i.test(type)) return 'xml'
  throw new Error(
    'SMS_HTTP_HEADERS: the content-type must be JSON, XML or application/x-www-form-urlencoded.',
  )
}

// Without the text or the number in a template, no customer would receive a useful SMS.
function checkPlaceholders(url: string, body: string | undefined, encoding: Encoding, from: string) {
  const whole = url + (body ?? '')
  if (!whole.includes('{text}')) throw new Error('SMS_HTTP_BODY: {text} is neither here nor in SMS_HTTP_URL.')
  if (!/\{to(_digits|_local)?\}/.test(whole))
    throw new Error('SMS_HTTP_BODY: none of {to}, {to_digits}, {to_local} is here or in SMS_HTTP_URL.')
  if (whole.includes('{from}') && !from) throw new Error('SMS_HTTP_FROM: missing, and {from} is used.')
  if (!body || encoding !== 'json') return
  try {
    JSON.parse(fillTemplate(body, Object.fromEntries(placeholders.map(name => [name, '"1"'])), 'json'))
  } catch {
    throw new Error('SMS_HTTP_BODY: is not JSON once it is filled in; placeholders must be inside quotes.')
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

const placeholders = ['to', 'to_digits', 'to_local', 'text', 'from', 'id'] as const
type Values = Readonly<Record<string, string>>
type Encoding = 'json' | 'form' | 'xml'

const encode: Record<Encoding, (value: string) => string> = {
  json: value => JSON.stringify(value).slice(1, -1),
  form: encodeURIComponent,
  xml: value => value.replace(/[^\t\n\r\x20-\x7e]|[<>&"']/gu, xmlChar),
}

// Characters that XML cannot contain are left out.
function xmlChar(char: string) {
  const code = char.codePointAt(0) ?? 0
  return code < 0x20 || code === 0xfffe || code === 0xffff ? '' : `&#${code};`
}

// Replaces all placeholders in one pass, so that a {to} inside a text is not replaced.
export const fillTemplate = (template: string, values: Values, encoding: Encoding) =>
  template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? whole : encode[encoding](value)
  })

export const valuesOf = ({ to, text, id }: OutboundMessage, from: string): Values => ({
  to,
  to_digits: to.replace(/^\+/, ''),
  to_local: parsePhoneNumberFromString(to)?.formatNational().replace(/\D/g, '') ?? to.replace(/^\+/, ''),
  text: text.toWellFormed(),
  from,
  id,
})
