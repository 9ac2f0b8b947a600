import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions, SecureVersion } from 'node:tls'
import pg from 'pg'
import { type DatabaseTls, readDatabaseTls } from '../../core/databaseTls.ts'

type Options = Omit<pg.ClientConfig, 'connectionString' | 'ssl'> & { pipeline?: boolean }

// A client for one host of a DATABASE_URL, which has one. The driver understands sslmode in its own way, so it gets the
// TLS options instead.
export class HostClient extends pg.Client {
  readonly #unreadable: Error | undefined

  constructor(url: string, options: Options) {
    const { tls, withoutTls } = readDatabaseTls(url)
    const { ssl = false, unreadable } = tls.use === 'never' ? {} : readOptions(tls)
    const { keepAlive, keepAliveInitialDelayMillis } = options
    const connection =
      tls.use === 'fallback'
        ? new FallbackConnection({ ssl, keepAlive, keepAliveInitialDelayMillis })
        : undefined
    super({
      ...options,
      connectionString: withoutTls,
      ssl,
      connection,
      enableChannelBinding: tls.use !== 'never' && tls.channelBinding !== 'never',
    } as pg.ClientConfig)
    this.#unreadable = unreadable
    if (tls.channelBinding === 'always') requireChannelBinding(connectionOf(this))
  }

  // Rejects if a file of TLS cannot be read. The constructor does not throw: the pool calls it where nothing catches.
  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void) {
    const unreadable = this.#unreadable
    if (callback) return unreadable ? process.nextTick(callback, unreadable) : super.connect(callback)
    return unreadable ? Promise.reject(unreadable) : super.connect()
  }

  // After it has connected.
  isEncrypted(): boolean {
    return connectionOf(this).stream.encrypted === true
  }
}

type Driver = {
  stream: Duplex & { encrypted?: boolean } // over TLS or not
  connect(port: number | string, host?: string): void
  attachListeners(stream: Duplex): void
}

const connectionOf = (client: pg.Client) =>
  (client as unknown as { connection: pg.Connection & Driver }).connection

// The login must be one that proves it. The driver also accepts any other that the server demands.
function requireChannelBinding(connection: pg.Connection & Driver) {
  let isOffered = false
  const refuse = () =>
    connection.stream.destroy(
      new Error('SASL: the server offers no channel binding (channel_binding=require)'),
    )
  connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: readonly string[] }) => {
    isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS')
    if (!isOffered) refuse()
  })
  for (const other of ['authenticationOk', 'authenticationCleartextPassword', 'authenticationMD5Password'])
    connection.on(other, () => isOffered || refuse())
}

const connectionFailed = '08001' // as any other connection that cannot be made

function read(path: string | undefined) {
  try {
    return path === undefined ? undefined : readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = `the TLS file ${path} is not readable (${code})`
    throw Object.assign(new Error(message, { cause: error }), { code: connectionFailed })
  }
}

// The files are read for each connection, so that a renewed certificate needs no restart. During a renewal a file may be
// missing for a moment.
function readOptions(tls: DatabaseTls): { ssl?: ConnectionOptions; unreadable?: Error } {
  try {
    return { ssl: optionsOf(tls) }
  } catch (error) {
    return { unreadable: error as Error }
  }
}

function optionsOf({ verify, files, passphrase, minVersion, maxVersion }: DatabaseTls): ConnectionOptions {
  return {
    ca: read(files.ca),
    cert: read(files.cert),
    key: read(files.key),
    crl: read(files.crl),
    passphrase,
    minVersion: minVersion as SecureVersion | undefined,
    maxVersion: maxVersion as SecureVersion | undefined,
    rejectUnauthorized: verify !== 'nothing',
    ...(verify === 'host' ? {} : { checkServerIdentity: () => undefined }),
  }
}

const noTls = 0x4e // N

const Connection = pg.Connection as unknown as new (config: object) => pg.Connection & Driver

// The driver ends a connection to a server that has no TLS. This one continues without: sslmode allow and prefer.
class FallbackConnection extends Connection {
  override connect(port: number | string, host?: string) {
    super.connect(port, host)
    const { stream } = this
    const onAnswer = stream.listeners('data').at(-1) as ((answer: Buffer) => void) | undefined
    if (!onAnswer) return // direct negotiation, which has no such answer
    stream.removeAllListeners('data')
    stream.once('data', (answer: Buffer) => {
      if (answer[0] !== noTls) return onAnswer(answer)
      this.attachListeners(stream)
      this.emit('sslconnect')
    })
  }
}
