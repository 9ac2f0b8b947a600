import { readFileSync } from 'node:fs'
import { isIP as ipVersion } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { accountNamePattern } from './core/merchant/settings.ts'
import { whyNotDatabaseTls, withSslMode } from './core/databaseTls.ts'
import type { MessengerSettings } from './core/message/messenger.ts'
import type { ProviderSettings } from './core/provider/provider.ts'
import { onlyThisMachineReaches, ownDashboardAddress, readProxy } from './core/networkSettings.ts'
import { nodeRoles } from './core/operator/nodeList.ts'
import { leastRedactDays } from './core/redaction/redact.ts'
import { readUrl } from './core/text.ts'
import { isTimeZone } from './core/zone.ts'

// The only file that reads the environment. All faults are reported together, each with the name of its setting.
export class ConfigError extends Error {
  readonly faults: string[]
  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const tooSoonToRedact = `must be ${leastRedactDays} or more: until then notifications, the feed and messages need what it removes`
const maxEmbeddedPoolSize = 50 // the private PostgreSQL accepts 100 connections; the others are for commands and a second node

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine(n => n >= min && n <= max, `must be from ${min} to ${max}`)

// Pages and responses contain absolute paths, so Tollgate does not work below a path.
function isOrigin(text: string): boolean {
  const url = readUrl(text)
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
}

const isIP = (text: string) => ipVersion(text) > 0
const isPort = (port: number) => port >= 1 && port <= 65_535
const isNameServer = (text: string) => {
  const [, address = '', port] = /^\[?(.*?)\]?(?<=[\].\d]):(\d+)$/.exec(text) ?? []
  return isIP(text) || (isIP(address) && isPort(Number(port)))
}

// A PostgreSQL URL may name several hosts, which the URL parser refuses.
const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/\S+$/, 'must be a URL such as postgres://user:password@host:5432/tollgate')
  .superRefine((url, context) => {
    const message = whyNotDatabaseTls(url)
    if (message) context.addIssue({ code: 'custom', message })
  })

const masterKeys = z
  .string()
  .regex(
    /^[0-9a-f]{64}(,[0-9a-f]{64})*$/i,
    'must be 64 hexadecimal digits (openssl rand -hex 32), or several such keys with commas, newest first',
  )
  .transform(text => text.split(',').map(key => Buffer.from(key, 'hex')))

const onOff = z.enum(['on', 'off'], 'must be on or off').transform(text => text === 'on')

const list = (pattern: RegExp, message: string) =>
  z
    .string()
    .transform(text => text.split(',').map(item => item.trim()))
    .refine(items => items.every(item => pattern.test(item)), message)

// During a rotation two tokens are valid: the new one, then the old one.
const tokens = z
  .string()
  .transform(text => text.split(',').map(token => token.trim()))
  .refine(all => all.every(token => token.length >= 16), 'must have at least 16 characters')
  .refine(all => all.length <= 2, 'must be one token, or the new and the old one with a comma between them')

const ownAddress = z.string().refine(isIP, 'must be an IP address of this machine')

const proxy = z
  .string()
  .refine(
    text => readProxy(text) !== undefined,
    'must be a URL such as http://proxy:3128 or http://user:password@proxy:3128',
  )

const schema = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: whole(0, 65_535).default(8080),
  TOLLGATE_BASE_URL: z
    .string()
    .refine(isOrigin, 'must be an address without a path, such as https://pay.example')
    .transform(text => new URL(text).origin)
    .optional(),
  TOLLGATE_DASHBOARD_HOST: z.string().min(1).optional(),
  TOLLGATE_DASHBOARD_PORT: whole(0, 65_535).optional(),
  TOLLGATE_DASHBOARD_URL: z
    .string()
    .refine(isOrigin, 'must be an address without a path, such as https://admin.pay.example')
    .transform(text => new URL(text).origin)
    .optional(),
  DATABASE_URL: databaseUrl.optional(),
  TOLLGATE_DIRECT_DATABASE_URL: databaseUrl.optional(),
  TOLLGATE_DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .transform(path => resolve(path)),
  TOLLGATE_MASTER_KEY: masterKeys.optional(),
  TOLLGATE_POOL_SIZE: whole(2, 200).default(10),
  TOLLGATE_PROCESSES: whole(1, 64).default(1),
  TOLLGATE_BATCH_ROWS: whole(1, 1000).default(256),
  TOLLGATE_TRUST_PROXY: whole(0, 10).default(0),
  TOLLGATE_STOP_SECONDS: whole(0, 60).optional(),
  TOLLGATE_METRICS_TOKEN: tokens.optional(),
  TOLLGATE_SUPPORT_TOKEN: tokens.optional(),
  TOLLGATE_SANDBOX: onOff.default(true),
  TOLLGATE_ROLE: z.enum(nodeRoles, 'must be all, web or worker').default('all'),
  TOLLGATE_WORKERS: onOff.default(true), // off, for drills: the role web
  TOLLGATE_EGRESS_ADDRESS: ownAddress.optional(),
  TOLLGATE_EGRESS_PROXY: proxy.optional(),
  TOLLGATE_EGRESS_PORTS: list(/^[1-9]\d{0,4}$/, 'must be port numbers with commas between them')
    .transform(ports => ports.map(Number))
    .refine(ports => ports.every(isPort), 'must be from 1 to 65535')
    .default([]),
  TOLLGATE_EGRESS_LOOPBACK: onOff.optional(),
  TOLLGATE_EGRESS_DNS: list(/^\S+$/, 'must be addresses of name servers with commas between them')
    .refine(all => all.every(isNameServer), 'must be addresses such as 10.0.0.2 or 10.0.0.2:53')
    .optional(),
  TOLLGATE_PROVIDERS: list(
    accountNamePattern,
    'must be names of accounts or providers such as mtn-4f7k2q or mtn with commas between them',
  ).default([]),
  TOLLGATE_PROVIDER_EGRESS_ADDRESS: ownAddress.optional(),
  TOLLGATE_PROVIDER_EGRESS_PROXY: proxy.optional(),
  TOLLGATE_MESSAGES_PER_RECIPIENT: whole(0, 100_000).default(10),
  TOLLGATE_MESSAGES_PER_MERCHANT: whole(0, 100_000_000).default(10_000),
  TOLLGATE_SMS_PREFIXES: list(
    /^\+\d{1,10}$/,
    'must be prefixes such as +233 with commas between them',
  ).default(['+233']),
  TOLLGATE_REDACT_DAYS: whole(1, 36_500)
    .refine(days => days >= leastRedactDays, tooSoonToRedact)
    .optional(),
  TOLLGATE_TIME_ZONE: z
    .string()
    .refine(isTimeZone, 'must be a time zone such as Africa/Accra')
    .default('UTC'),
  TOLLGATE_LEDGER_MAIL: z.email('must be an email address').optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      error: 'must be trace, debug, info, warn, error or silent',
    })
    .default('info'),
})

// Providers and messengers read their own settings, so that a new one needs no change here.
export type Config = z.output<typeof schema> & {
  providerSettings: ProviderSettings
  messengerSettings: MessengerSettings
  isForThisMachineOnly: boolean
}
export type Environment = Record<string, string | undefined>

export const configNames = Object.keys(schema.shape)

// A variable of Node, not of Tollgate.
export const usesIoUring = (env: Environment = process.env) => env.UV_USE_IO_URING === '1'

// NAME_FILE names a file that holds the value of NAME: a secret of systemd, Docker or Kubernetes. Every setting may be given
// like this, those of providers and messengers too. A name of Tollgate is recognized by its first word, so that a variable
// of another program that ends with _FILE is not read.
const fileSetting = /^((?:TOLLGATE|DATABASE|SMTP|SMPP|SMS|MTN|PAYSTACK)_[A-Z0-9_]+)_FILE$/

// The files that settings are read from.
export const settingFiles = (env: Environment = process.env) =>
  Object.entries(env).flatMap(([name, path]) => (path && fileSetting.test(name) ? [{ name, path }] : []))

function withFiles(given: Record<string, string>) {
  const set: Record<string, string> = {}
  const faults: string[] = []
  for (const [key, value] of Object.entries(given)) {
    const name = fileSetting.exec(key)?.[1]
    if (name === undefined) set[key] = value
    else if (given[name] !== undefined) faults.push(`${key}: ${name} is set, too; set one of them`)
    else {
      try {
        const text = readFileSync(value, 'utf8').trim()
        if (text === '') faults.push(`${key}: the file ${value} is empty`)
        else set[name] = text
      } catch (error) {
        faults.push(`${key}: ${(error as Error).message}`)
      }
    }
  }
  return { set, faults }
}

export function readConfig(env?: Environment): Config {
  const { config, faults } = readValidConfig(env)
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

// Returns the valid settings, and the faults of the invalid ones.
export function readValidConfig(env: Environment = process.env): { config: Config; faults: string[] } {
  // Empty means not set, as in `NAME= command` and most unit files.
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  const { set, faults: fileFaults } = withFiles(given)
  const issues = schema.safeParse(set).error?.issues ?? []
  const invalid = new Set(issues.map(({ path }) => path[0]))
  const valid = Object.fromEntries(Object.entries(set).filter(([name]) => !invalid.has(name)))
  const read = schema.parse(valid)
  const inMode = (url: string | undefined) => url && withSslMode(url, env.PGSSLMODE) // as in libpq
  const config = {
    ...read,
    TOLLGATE_ROLE: read.TOLLGATE_WORKERS ? read.TOLLGATE_ROLE : 'web',
    DATABASE_URL: inMode(read.DATABASE_URL),
    TOLLGATE_DIRECT_DATABASE_URL: inMode(read.TOLLGATE_DIRECT_DATABASE_URL),
    providerSettings: set,
    messengerSettings: set,
    isForThisMachineOnly: onlyThisMachineReaches(read),
  }
  const faults = [
    ...fileFaults,
    ...Object.keys(set)
      .filter(name => name.startsWith('TOLLGATE_') && !configNames.includes(name))
      .map(name => `${name}: there is no such setting; there are ${configNames.join(', ')}`),
    ...issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
  ]
  if (!set.DATABASE_URL && config.TOLLGATE_POOL_SIZE > maxEmbeddedPoolSize)
    faults.push(`TOLLGATE_POOL_SIZE: at most ${maxEmbeddedPoolSize} with the embedded PostgreSQL`)
  else if (!set.DATABASE_URL && config.TOLLGATE_PROCESSES * config.TOLLGATE_POOL_SIZE > maxEmbeddedPoolSize)
    faults.push(
      `TOLLGATE_PROCESSES: each process has its own TOLLGATE_POOL_SIZE (${config.TOLLGATE_POOL_SIZE}), and with the embedded ` +
        `PostgreSQL the pools have at most ${maxEmbeddedPoolSize} connections together`,
    )
  if (set.TOLLGATE_DIRECT_DATABASE_URL && !set.DATABASE_URL)
    faults.push('TOLLGATE_DIRECT_DATABASE_URL: set DATABASE_URL, too')
  if (read.TOLLGATE_ROLE === 'worker' && !read.TOLLGATE_WORKERS)
    faults.push('TOLLGATE_WORKERS: a worker node has nothing else to do: remove it, or set TOLLGATE_ROLE=web')
  if (config.TOLLGATE_ROLE === 'worker' && !set.DATABASE_URL)
    faults.push('TOLLGATE_ROLE: set DATABASE_URL, too: the embedded PostgreSQL has no node that could serve')
  if (config.TOLLGATE_ROLE === 'worker' && !set.TOLLGATE_BASE_URL)
    faults.push(
      'TOLLGATE_ROLE: set TOLLGATE_BASE_URL, too: messages of this node link to the checkouts of web nodes',
    )
  faults.push(...dashboardFaults(config))
  return { config, faults }
}

function dashboardFaults(config: Config): string[] {
  const own = ownDashboardAddress(config)
  if (!own)
    return config.TOLLGATE_DASHBOARD_URL === undefined
      ? []
      : ['TOLLGATE_DASHBOARD_URL: set TOLLGATE_DASHBOARD_PORT or TOLLGATE_DASHBOARD_HOST, too']
  const isShared = own.host === config.HOST && own.port === config.PORT && own.port !== 0
  return isShared
    ? [`TOLLGATE_DASHBOARD_PORT: ${own.host} port ${own.port} is the address of the checkout`]
    : []
}
