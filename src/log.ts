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
])

// Lines leave in chunks, and none waits longer than this.
const inChunks = { minLength: 4096, periodicFlush: 100 }

export function createLog(
  level: string,
  destination: DestinationStream = pino.destination({ dest: 2, sync: false, ...inChunks }),
): Logger {
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

// At any depth, and far cheaper than a list of paths: every request writes a line.
function hideSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields))
    if (secretNames.has(name)) shown[name] = '[hidden]'
    else if (value?.constructor === Object) shown[name] = hideSecrets(value as Record<string, unknown>)
    else shown[name] = value
  return shown
}
