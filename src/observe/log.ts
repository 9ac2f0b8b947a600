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

// A line of level info whose fields are JSON already, our own words alone, with nothing to hide. It reads as any other;
// but every request writes one, and to look through each for secrets is much of what a small answer costs. None for
// a logger that was made elsewhere.
export function plainLines(log: Logger): ((fields: string, words: string) => void) | undefined {
  const destination = destinations.get(log)
  return (
    destination &&
    ((fields, words) => {
      if (!log.isLevelEnabled('info')) return
      destination.write(`{"level":"info","time":"${timeNow()}",${fields},"msg":"${words}"}\n`)
    })
  )
}

let spelled = { at: 0, words: '' } // many lines are of one millisecond

function timeNow(): string {
  const at = Date.now()
  if (at !== spelled.at) spelled = { at, words: new Date(at).toISOString() }
  return spelled.words
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
