import { databaseUrlParts } from './databaseUrl.ts'
import { isLoopbackName } from './networkSettings.ts'

// TLS to the database, as libpq has it: sslmode and the other parameters of a URL.

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof modes)[number]

// `fallback`: if the server has no TLS, the connection is made without.
// `verify`: nothing; that the chain of the certificate ends at a known authority; also that it is for this host.
export type DatabaseTls = {
  use: 'never' | 'fallback' | 'always'
  verify: 'nothing' | 'chain' | 'host'
  files: { ca?: string; cert?: string; key?: string; crl?: string } // paths
  passphrase?: string // of the key
  minVersion?: string
  maxVersion?: string
  channelBinding: 'never' | 'offered' | 'always' // the login also proves that both ends have the same TLS connection
}

const names = [
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslpassword',
  'sslcrl',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
  'channel_binding',
  'uselibpqcompat',
]

// The driver of PostgreSQL has two more spellings of its own.
const otherModes: Record<string, SslMode> = { 'no-verify': 'require' }
const modeOfSsl: Record<string, SslMode> = {
  true: 'verify-full',
  '1': 'verify-full',
  false: 'disable',
  '0': 'disable',
}

const nameOf = (pair: string) => pair.split('=')[0] ?? ''

function partsOf(url: string) {
  const [base = '', query = ''] = url.split(/\?(.*)/s)
  const pairs = query.split('&').filter(pair => pair !== '')
  const rest = pairs.filter(pair => !names.includes(nameOf(pair)))
  return {
    given: new URLSearchParams(query),
    withoutTls: rest.length > 0 ? `${base}?${rest.join('&')}` : base,
  }
}

// The name or address of the one host of a URL; empty if the URL names none. A Unix socket begins with a slash.
export function hostIn(url: string): string {
  const [inUrl = ''] = /^(\[[^\]]*\]|[^:]*)/.exec(databaseUrlParts(url).hosts) ?? []
  return partsOf(url).given.get('host') || decodeURIComponent(inUrl)
}

export const isLocalDatabase = (url: string) => {
  const host = hostIn(url)
  return host === '' || host.startsWith('/') || isLoopbackName(host)
}

function modeOf(given: URLSearchParams): SslMode {
  const ssl = given.get('ssl')
  const text = given.get('sslmode') ?? (ssl === null ? undefined : (modeOfSsl[ssl] ?? otherModes[ssl]))
  if (text === undefined) return given.get('sslrootcert') === 'system' ? 'verify-full' : 'prefer'
  return modes.find(mode => mode === text) ?? otherModes[text] ?? 'verify-full'
}

// For a URL that has no mode.
export function withSslMode(url: string, mode: string | undefined): string {
  const { given } = partsOf(url)
  if (!mode || given.has('sslmode') || given.has('ssl') || given.has('sslrootcert')) return url
  return `${url}${url.includes('?') ? '&' : '?'}sslmode=${encodeURIComponent(mode)}`
}

// `withoutTls` is the URL without these parameters.
export function readDatabaseTls(url: string): { tls: DatabaseTls; withoutTls: string } {
  const { given, withoutTls } = partsOf(url)
  const mode = hostIn(url).startsWith('/') ? 'disable' : modeOf(given)
  const file = (name: string) => given.get(name) || undefined
  const root = file('sslrootcert')
  const ca = root === 'system' ? undefined : root
  const tls: DatabaseTls = {
    use: mode === 'disable' ? 'never' : mode === 'allow' || mode === 'prefer' ? 'fallback' : 'always',
    verify: verification(mode, ca !== undefined && given.get('sslmode') !== 'no-verify'),
    files: { ca, cert: file('sslcert'), key: file('sslkey'), crl: file('sslcrl') },
    passphrase: file('sslpassword'),
    minVersion: file('ssl_min_protocol_version'),
    maxVersion: file('ssl_max_protocol_version'),
    channelBinding: bindings[given.get('channel_binding') ?? ''] ?? 'offered',
  }
  return { tls, withoutTls }
}

const bindings: Record<string, DatabaseTls['channelBinding']> = { disable: 'never', require: 'always' }

// As in libpq, `require` with a root certificate verifies the chain. Anybody can get a certificate of the authorities that
// Node trusts, so without a root certificate the host is verified, too.
function verification(mode: SslMode, hasRoot: boolean): DatabaseTls['verify'] {
  if (mode === 'verify-full') return 'host'
  if (mode === 'verify-ca') return hasRoot ? 'chain' : 'host'
  return mode === 'require' && hasRoot ? 'chain' : 'nothing'
}

// Why the TLS parameters of a DATABASE_URL are invalid; undefined if they are not.
export function whyNotDatabaseTls(url: string): string | undefined {
  const { given } = partsOf(url)
  const mode = given.get('sslmode')
  if (mode !== null && !modes.includes(mode as SslMode) && !(mode in otherModes))
    return `sslmode must be one of ${modes.join(', ')}`
  if (given.get('sslrootcert') === 'system' && mode !== null && mode !== 'verify-full')
    return 'sslrootcert=system needs sslmode=verify-full'
  return undefined
}
