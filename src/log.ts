import pino, { type Logger } from 'pino'

// Structured lines on standard error. Nothing here is meant to carry a secret or a person's data; the list
// below is the second line of defence.
const secretNames = [
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
]

export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: secretNames.flatMap(name => [name, `*.${name}`, `*.*.${name}`]), censor: '[hidden]' },
    },
    pino.destination({ dest: 2, sync: false, minLength: 0 }),
  )
}
