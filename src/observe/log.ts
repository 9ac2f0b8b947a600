import pino, { type DestinationStream, type Logger } from 'pino'

// Structured lines on standard error. Nothing here is meant to carry a secret or a person's data; the list
// below is the second line of defence.
const secretNames = new Set([
  'authorization',
  'email',
  'extra_email',
  'extra_mobile',
  'ipn_secret',
  'merchant_key',
  'name',
  'number',
  'pymt_instrument',
  'secret_key',
  'secure_hash',
  'tx_token',
  'url',
  'voucher_code',
  'x-tollgate-signature',
])

const maxWaiting = 8 * 1024 * 1024 // bytes that nobody reads; what comes then is dropped

const standardError = () => pino.destination({ fd: 2, sync: false, maxLength: maxWaiting })

export function createLog(level: string, destination: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }), log: hideSecrets },
    },
    destination,
  )
}

// At any depth. Most lines have nothing to hide and are passed on as they are: every request writes one.
function hideSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  for (const name of Object.keys(fields))
    if (secretNames.has(name) || isPlain(fields[name])) return hidden(fields)
  return fields
}

function hidden(fields: Record<string, unknown>): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields))
    if (secretNames.has(name)) shown[name] = '[hidden]'
    else shown[name] = isPlain(value) ? hidden(value) : value
  return shown
}

const isPlain = (value: unknown): value is Record<string, unknown> => value?.constructor === Object
