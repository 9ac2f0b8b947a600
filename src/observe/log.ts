import pino, { type DestinationStream, type Logger } from 'pino'

// Callers must not log secrets or personal data. This list is the second line of defence.
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

const maxBufferedBytes = 8 * 1024 * 1024 // if standard error is not read; later lines are dropped

const standardError = () => pino.destination({ fd: 2, sync: false, maxLength: maxBufferedBytes })

export function createLog(level: string, destination: DestinationStream = standardError()): Logger {
  const log = pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }), log: hideSecrets },
    },
    destination,
  )
  destinations.set(log, destination)
  return log
}

const destinations = new WeakMap<Logger, DestinationStream>()

// Writes info lines whose fields are already JSON and contain no secrets. Every request writes one, and searching it for
// secrets is a large part of the cost of a small response. Undefined for a logger that createLog did not make.
export function infoLineWriter(log: Logger): ((fields: string, message: string) => void) | undefined {
  const destination = destinations.get(log)
  return (
    destination &&
    ((fields, message) => {
      if (!log.isLevelEnabled('info')) return
      destination.write(`{"level":"info","time":"${timeNow()}",${fields},"msg":"${message}"}\n`)
    })
  )
}

let latest = { at: 0, text: '' } // many lines share a millisecond

function timeNow(): string {
  const at = Date.now()
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() }
  return latest.text
}

// At any depth. Most lines have no secrets and are not copied.
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
