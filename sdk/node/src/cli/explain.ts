import { InvalidInputError, RefusedError, type TollgateError, UnavailableError } from '../errors.ts'

// The names of the SDK's options, as the user of a command sets them.
export const variables = {
  baseUrl: 'TOLLGATE_URL',
  merchantKey: 'TOLLGATE_MERCHANT_KEY',
  merchantSecret: 'TOLLGATE_MERCHANT_SECRET',
  ipnSecret: 'TOLLGATE_IPN_SECRET',
} as const

// The SDK's messages are for a program that signs by itself. A command signs correctly, so only its settings can be wrong.
export function explain(error: TollgateError): string {
  const id = error.requestId ? ` (request ${error.requestId})` : ''
  return `${sentencesFor(error)}${id}`
}

function sentencesFor(error: TollgateError): string {
  const { code, message } = error
  if (error instanceof RefusedError && code === 'GW-008')
    return `GW-008: no merchant of this gateway has this key. Check ${variables.merchantKey} and ${variables.baseUrl}.`
  if (error instanceof RefusedError && code === 'GW-010' && !/ seconds /.test(message))
    return `GW-010: the secret does not belong to this key. Check ${variables.merchantSecret}; each key has its own.`
  if (error instanceof RefusedError && code === 'GW-010')
    return `${withoutAdvice(message)} Check the clock of this machine.`
  if (error instanceof UnavailableError && isUnreachable(error.cause))
    return `${message} Is it running, and is ${variables.baseUrl} its address?`
  if (error instanceof InvalidInputError || error.code.startsWith('http_')) return withVariables(message)
  return message
}

const withoutAdvice = (message: string) => message.split(' Check ')[0] ?? message

const withVariables = (message: string) =>
  Object.entries(variables).reduce((text, [name, variable]) => text.replaceAll(name, variable), message)

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

// Nothing was sent: there was no connection.
export const isUnreachable = (error: unknown): boolean => unreachable.has(socketCodeOf(error))

// fetch reports the error of the socket as the cause, and several addresses of a name as a list.
export function socketCodeOf(error: unknown): string {
  const { code, cause, errors } = Object(error) as { code?: string; cause?: unknown; errors?: unknown[] }
  if (typeof code === 'string' && code !== 'UND_ERR') return code
  return cause === undefined && !errors?.length ? '' : socketCodeOf(cause ?? errors?.[0])
}
