import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { checkOpenFiles } from '../../../src/cli/doctor/checkFiles.ts'
import { checkExposure } from '../../../src/cli/doctor/checkReach.ts'
import { openDb } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'
import { oldPgBouncer, startPgBouncer } from '../../support/database/pgBouncer.ts'
import { seedPayment } from '../../support/dashboard/seedPayments.ts'
import { type FrontProxy, startFrontProxy } from '../../support/gateway/frontProxy.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { operatorToken } from '../../support/gateway/operatorAuth.ts'
import { afterFile } from '../../support/vitest/afterFile.ts'
import { openMailServer } from '../../messengers/mailServer.ts'
import { openCentre } from '../../messengers/smsCentre.ts'
import { makeCertificate } from '../../net/certificate.ts'
import { startNameServer } from '../../net/nameServer.ts'
import { type Env, newMasterKey, temporaryFolder, tollgateJson } from '../tollgate.ts'

// What doctor finds: one planted fault per row, beside a whole installation that has none.

vi.setConfig({ testTimeout: 60_000 })

type Check = { check: string; state: 'ok' | 'warning' | 'failed'; fact: string; todo?: string }

let database: FreshDatabase
let gateway: TestGateway
let front: FrontProxy
let healthy: Env
let keyFile: string
const secret = `s3cret${randomBytes(6).toString('hex')}`
const databases: FreshDatabase[] = []
const roles: string[] = []

beforeAll(async () => {
  database = await migratedDatabase()
  front = await startFrontProxy()
  const key = newMasterKey()
  keyFile = join(temporaryFolder(), 'master_key')
  writeFileSync(keyFile, key, { mode: 0o600 })
  const mail = await openMailServer({ onAuth: acceptSecret, allowInsecureAuth: true, authOptional: false })
  const centre = await openCentre({ password: secret.slice(0, 8) })
  const sms = await serverOf(createServer((_, answer) => void answer.end('ok')))
  const proxy = await openTunnelProxy()
  const names = await startNameServer(() => 'nxdomain')
  afterFile(() => Promise.all([mail.stop(), centre.stop()]))
  const shared = { TOLLGATE_BASE_URL: front.url, TOLLGATE_TRUST_PROXY: '1', TOLLGATE_MASTER_KEY: key }
  gateway = await testGateway(shared, {}, { url: database.url, drop: async () => {} })
  front.target = gateway.url
  while ((await query(database.url, 'select from nodes')).length === 0) await sleep(50)
  healthy = {
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY_FILE: keyFile,
    TOLLGATE_SUPPORT_TOKEN: operatorToken,
    TOLLGATE_BASE_URL: front.url,
    TOLLGATE_TRUST_PROXY: '1',
    PORT: new URL(gateway.url).port,
    SMTP_URL: `smtp://us:${secret}@127.0.0.1:${mail.port}`,
    SMTP_FROM: 'pay@shop.example',
    SMPP_URL: `smpp://tollgate:${secret.slice(0, 8)}@127.0.0.1:${centre.port}`,
    SMPP_FROM: 'Tollgate',
    SMS_HTTP_URL: `http://127.0.0.1:${sms}/send?to={to}&text={text}`,
    TOLLGATE_EGRESS_PROXY: `http://us:${secret}@127.0.0.1:${proxy}`,
    TOLLGATE_PROVIDER_EGRESS_PROXY: `http://us:${secret}@127.0.0.1:${proxy}`,
    TOLLGATE_EGRESS_DNS: names.address,
  }
})
afterAll(async () => {
  await gateway.stop()
  await front.stop()
  for (const one of [...databases, database]) await one.drop()
  for (const role of roles) await query(inject('databaseUrl'), `drop role ${role}`)
})

type MailAuth = { password?: string | null }
const acceptSecret = (auth: MailAuth, _: unknown, done: (error: Error | null, answer?: object) => void) =>
  auth.password === secret ? done(null, { user: 'us' }) : done(new Error('Invalid login'))

// A real server of any kind, closed after the file. Returns its port.
async function serverOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  afterFile(() => void server.close())
  return (server.address() as AddressInfo).port
}

const closedPort = async () => {
  const server = createTcpServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

const silentPort = () => serverOf(createTcpServer(socket => void socket.on('error', () => {})))
const closingPort = () => serverOf(createTcpServer(socket => void socket.on('error', () => {}).end()))
const resettingPort = () =>
  serverOf(createTcpServer(socket => void socket.once('data', () => socket.resetAndDestroy())))
const chatterPort = () =>
  serverOf(createTcpServer(socket => void socket.on('error', () => {}).end('hello\r\n')))

const openTunnelProxy = () =>
  serverOf(
    createServer().on('connect', (incoming, client) => {
      const isKnown =
        incoming.headers['proxy-authorization'] === `Basic ${Buffer.from(`us:${secret}`).toString('base64')}`
      client.on('error', () => {})
      client.end(`HTTP/1.1 ${isKnown ? '502 Bad Gateway' : '407 Proxy Authentication Required'}\r\n\r\n`)
    }),
  )

const { cert, key } = makeCertificate('127.0.0.1')

async function runDoctor(env: Env): Promise<Check[]> {
  const { data } = await tollgateJson(env, 'doctor')
  expect(JSON.stringify(data)).not.toContain(secret)
  return data.checks
}

const notFine = (checks: readonly Check[]) => checks.filter(({ state }) => state !== 'ok')

// Settings of the healthy installation with another database, on which no gateway runs.
async function onDatabase(...statements: string[]): Promise<Env> {
  const other = await migratedDatabase()
  databases.push(other)
  for (const statement of statements) await query(other.url, statement.replaceAll('$db', nameOf(other)))
  return { DATABASE_URL: other.url }
}
const nameOf = ({ url }: FreshDatabase) => /\/(test_\w+)\?/.exec(url)?.[1] ?? ''

// The same, used by a role that does not own the tables.
async function asRole(...statements: string[]): Promise<Env> {
  const role = `doctor_${randomBytes(4).toString('hex')}`
  roles.push(role)
  const grants = readFileSync('deploy/postgresql/runtime-role.sql', 'utf8').replaceAll(
    'tollgate_runtime',
    role,
  )
  const { DATABASE_URL = '' } = await onDatabase(
    `create role ${role} login password 'runtime'`,
    grants,
    ...statements.map(one => one.replaceAll('$role', role)),
  )
  return { DATABASE_URL: DATABASE_URL.replace(/\/\/[^@]*@/, `//${role}:runtime@`) }
}

async function withLivePayment(env: Env): Promise<Env> {
  const db = openDb(databases.at(-1)?.url ?? '', 1)
  await seedPayment(db, { merchant_id: '7c2k9m0x4f', at: new Date() })
  await db.end()
  return env
}

// Something between the gateway and PostgreSQL that changes one statement, without a change of its length.
async function onChangedStatements(from: string, to: string): Promise<Env> {
  const { DATABASE_URL: url = '' } = await onDatabase()
  const [, who, path, folder = ''] = /^postgres:\/\/([^/]*)@(\/[^?]*)\?host=([^&]+)/.exec(url) ?? []
  const target = { path: `${decodeURIComponent(folder)}/.s.PGSQL.5432` }
  const port = await serverOf(
    createTcpServer(client => {
      const server = connect(target)
      for (const socket of [client, server]) socket.on('error', () => {})
      client.on('data', bytes =>
        server.write(bytes.toString('latin1').replaceAll(from, to.padEnd(from.length)), 'latin1'),
      )
      server.pipe(client)
      client.on('close', () => server.end())
    }),
  )
  return { DATABASE_URL: `postgres://${who}@127.0.0.1:${port}${path}?sslmode=disable` }
}

function withFront(change: Partial<FrontProxy>, env: Env = {}): Env {
  Object.assign(front, change)
  return env
}

// `also`: checks that the fault makes report something as well.
type Fault = {
  fault: string
  plant(): Env | Promise<Env>
  says: [check: string, state: 'warning' | 'failed', fact: RegExp, todo: RegExp]
  also?: string[]
  skip?: boolean
}

const onPort = (port: number) => `127.0.0.1:${port}`
const smtp = (host: string, rest = '') => ({ SMTP_URL: `smtp://us:${secret}@${host}${rest}` })

const faults: Fault[] = [
  {
    fault: 'the pools of all nodes need more connections than the database has',
    plant: async () => {
      const [{ most = 0 } = {}] = await query(
        database.url,
        `select current_setting('max_connections')::int as most`,
      )
      return { TOLLGATE_POOL_SIZE: String(Math.floor(most / 2)) } // for one node, and not for two
    },
    says: [
      'connections',
      'warning',
      /accepts \d+; one node, .* use up to \d+$/,
      /Raise max_connections to \d+ or more/,
    ],
  },
  {
    fault: 'the role may open few connections',
    plant: () => asRole('alter role $role connection limit 8'),
    says: ['connections', 'failed', /the role may open 8/, /connection limit of the role/],
  },
  {
    fault: 'the database accepts few connections',
    plant: () => onDatabase('alter database $db connection limit 20'),
    says: ['connections', 'warning', /this database accepts 20/, /connection limit of the database/],
  },
  {
    fault: 'a pooler accepts fewer connections than the nodes use',
    skip: !oldPgBouncer,
    plant: async () => {
      const { DATABASE_URL = '' } = await onDatabase()
      const user = /\/\/([^:@]*)/.exec(DATABASE_URL)?.[1] ?? ''
      const settings = { pool_mode: 'session', max_client_conn: 15, stats_users: user }
      const pooler = await startPgBouncer(oldPgBouncer ?? '', DATABASE_URL, settings)
      afterFile(pooler.stop)
      return { DATABASE_URL: pooler.url, TOLLGATE_POOL_SIZE: '10' }
    },
    says: ['pooler', 'warning', /it accepts 15 connections; .* up to 24$/, /Raise max_client_conn/],
  },
  {
    fault: 'a pooler does not prepare statements',
    skip: !oldPgBouncer,
    plant: async () => {
      const { DATABASE_URL = '' } = await onDatabase()
      const pooler = await startPgBouncer(oldPgBouncer ?? '', DATABASE_URL, { pool_mode: 'transaction' })
      afterFile(pooler.stop)
      return { DATABASE_URL: pooler.url }
    },
    says: ['pooler', 'failed', /does not prepare statements/, /PgBouncer 1.21/],
  },
  {
    fault: 'a timeout is lost on the way to the database',
    plant: () =>
      onChangedStatements(
        "set_config('statement_timeout', '8000', false)",
        "current_setting('statement_timeout')",
      ),
    says: ['timeouts', 'failed', /statement_timeout is off/, /docs\/database\.md/],
  },
  {
    fault: 'wake-ups do not arrive',
    plant: () => onChangedStatements('listen tollgate', 'listen tollgat_'),
    says: [
      'nodes',
      'warning',
      /notification of another connection did not arrive/,
      /TOLLGATE_DIRECT_DATABASE_URL/,
    ],
  },
  {
    fault: 'the direct address leads to another database',
    plant: async () => ({ ...(await onDatabase()), TOLLGATE_DIRECT_DATABASE_URL: database.url }),
    says: ['direct', 'failed', /leads to another database/, /same database/],
    also: ['nodes'],
  },
  {
    fault: 'an index is missing',
    plant: () => onDatabase('drop index payments_due'),
    says: [
      'schema',
      'failed',
      /^missing: index payments_due \(0010_payments\.sql\)$/,
      /src\/store\/migrations/,
    ],
  },
  {
    fault: 'a column is missing',
    plant: () => onDatabase('alter table tasks drop column owner'),
    says: ['schema', 'failed', /column tasks\.owner \(/, /restore a backup/],
  },
  {
    fault: 'a table is missing',
    plant: () => onDatabase('drop table backups'),
    says: ['schema', 'failed', /table backups \(0045_backups\.sql\)/, /restore a backup/],
  },
  {
    fault: 'the trigger of an append-only table is disabled',
    plant: () => onDatabase('alter table transfers disable trigger transfers_append_only'),
    says: ['schema', 'failed', /trigger transfers_append_only/, /src\/store\/migrations/],
  },
  {
    fault: 'an index is not valid',
    plant: async () => {
      const env = await onDatabase(
        `insert into support_links values ('one', now()), ('two', 'epoch'), ('three', 'epoch')`,
      )
      const broken = 'create unique index concurrently broken on support_links (expires_at)'
      await query(env.DATABASE_URL ?? '', broken).catch(() => {})
      return env
    },
    says: ['schema', 'warning', /index broken/, /reindex index concurrently broken/],
  },
  {
    fault: 'the role lacks a right',
    plant: () => asRole('revoke insert on payments from $role'),
    says: ['privileges', 'failed', /lacks insert on payments/, /runtime-role\.sql/],
  },
  {
    fault: 'the role may not read the migrations',
    plant: () => asRole('revoke all on all tables in schema public from $role'),
    says: ['privileges', 'failed', /lacks delete, insert, select, update on /, /runtime-role\.sql/],
  },
  {
    fault: 'the role may change what is booked',
    plant: () => asRole('grant update on transfers to $role'),
    says: ['ledger', 'warning', /may change or delete rows of transfers/, /runtime-role\.sql/],
  },
  {
    fault: 'the role owns the ledger, with live payments',
    plant: async () => withLivePayment(await onDatabase()),
    says: ['ledger', 'warning', /owns audit_entries, ledger_seals, transfers/, /does not own the tables/],
    also: ['backup'],
  },
  {
    fault: 'there is no backup of live payments',
    plant: async () => withLivePayment(await asRole()),
    says: ['backup', 'warning', /none was made/, /tollgate backup/],
  },
  {
    fault: 'commits do not wait for the disk',
    plant: () => onDatabase('alter database $db set synchronous_commit = off'),
    says: ['durability', 'failed', /synchronous_commit is off/, /Set it to on/],
  },
  {
    fault: 'the database is read-only',
    plant: () => onDatabase('alter database $db set default_transaction_read_only = on'),
    says: ['database', 'failed', /read-only/, /default_transaction_read_only/],
  },
  {
    fault: 'the base URL has no DNS record',
    plant: () => ({ TOLLGATE_BASE_URL: 'https://pay.tollgate.invalid' }),
    says: [
      'base URL',
      'warning',
      /DNS failed: pay\.tollgate\.invalid does not exist|DNS failed: the name servers/,
      /DNS record/,
    ],
  },
  {
    fault: 'nothing listens at the base URL',
    plant: async () => ({ TOLLGATE_BASE_URL: `http://${onPort(await closedPort())}` }),
    says: ['base URL', 'warning', /connect failed: the connection was refused/, /Start the proxy/],
  },
  {
    fault: 'the certificate of the base URL is not trusted',
    plant: async () => ({
      TOLLGATE_BASE_URL: `https://${onPort(await serverOf(createTlsServer({ cert, key })))}`,
    }),
    says: ['base URL', 'failed', /TLS failed: self-signed certificate/, /certificate of a public authority/],
  },
  {
    fault: 'the base URL is https, and the server speaks plain HTTP',
    plant: () => ({ TOLLGATE_BASE_URL: front.url.replace('http:', 'https:') }),
    says: ['base URL', 'failed', /TLS failed: the server does not speak TLS/, /serve https/],
  },
  {
    fault: 'the base URL is http, and the server speaks TLS',
    plant: async () => ({
      TOLLGATE_BASE_URL: `http://${onPort(await serverOf(createTlsServer({ cert, key })))}`,
    }),
    says: ['base URL', 'failed', /does not answer with HTTP/, /scheme or the port/],
  },
  {
    fault: 'the base URL redirects',
    plant: () =>
      withFront({
        answer: outgoing => void outgoing.writeHead(301, { location: 'https://www.pay.example/x' }).end(),
      }),
    says: ['base URL', 'failed', /redirects to https:\/\/www\.pay\.example$/, /answers itself/],
  },
  {
    fault: 'the base URL leads to another program',
    plant: () => withFront({ answer: outgoing => void outgoing.end('<h1>It works</h1>') }),
    says: ['base URL', 'failed', /another program \(HTTP 200\)/, /DNS record, or the rule/],
  },
  {
    fault: 'the base URL leads to another installation',
    plant: async () => {
      const other = await testGateway()
      afterFile(other.stop)
      return withFront({ target: other.url })
    },
    says: ['base URL', 'failed', /Tollgate of another installation/, /DATABASE_URL/],
  },
  {
    fault: 'the proxy reaches no node',
    plant: async () => withFront({ target: `http://${onPort(await closedPort())}` }),
    says: ['base URL', 'failed', /the proxy answers HTTP 502/, /log of the proxy/],
  },
  {
    fault: 'the base URL does not answer',
    plant: () => withFront({ answer: () => {} }),
    says: ['base URL', 'failed', /does not answer within 4 s/, /log of the proxy/],
  },
  {
    fault: 'the base URL is http on the internet',
    plant: () => ({ TOLLGATE_BASE_URL: 'http://pay.tollgate.invalid' }),
    says: ['base URL', 'warning', /^http:\/\/pay\.tollgate\.invalid$/, /pay over https/],
  },
  {
    fault: 'the proxy passes X-Forwarded-For of clients on',
    plant: () => withFront({ forwarded: 'passed' }),
    says: ['proxies', 'failed', /a client can choose the address/, /replace X-Forwarded-For/],
  },
  {
    fault: 'the proxy sets no X-Forwarded-For',
    plant: () => withFront({ forwarded: 'removed' }),
    says: ['proxies', 'warning', /one address .*: no proxy sets X-Forwarded-For/, /replace X-Forwarded-For/],
  },
  {
    fault: 'more proxies are in front than the setting says',
    plant: async () => {
      const second = await startFrontProxy()
      afterFile(second.stop)
      Object.assign(second, { target: gateway.url, forwarded: 'added' })
      return withFront({ target: second.url })
    },
    says: [
      'proxies',
      'warning',
      /2 proxies set X-Forwarded-For, and TOLLGATE_TRUST_PROXY is 1/,
      /TOLLGATE_TRUST_PROXY=2/,
    ],
  },
  {
    fault: 'the host of the mail server does not exist',
    plant: () => smtp('mail.tollgate.invalid'),
    says: ['messengers', 'warning', /SMTP: DNS failed at mail\.tollgate\.invalid:587/, /Correct the host/],
  },
  {
    fault: 'nothing listens at the mail server',
    plant: async () => smtp(onPort(await closedPort())),
    says: ['messengers', 'warning', /SMTP: connect failed .* refused/, /Start the server/],
  },
  {
    fault: 'the mail server refuses the login',
    plant: () => ({ SMTP_URL: (healthy.SMTP_URL ?? '').replace(secret, 'wrong') }),
    says: ['messengers', 'warning', /SMTP: login failed .*535/, /user and password/],
  },
  {
    fault: 'the certificate of the mail server is not trusted',
    plant: async () => {
      const mail = await openMailServer({ key, cert, onAuth: acceptSecret })
      afterFile(mail.stop)
      return smtp(onPort(mail.port), '?tls=required')
    },
    says: ['messengers', 'warning', /SMTP: TLS failed .*self-signed/, /SMTP_TLS_CA|_TLS_CA/],
  },
  {
    fault: 'the mail server does not greet',
    plant: async () => smtp(onPort(await silentPort())),
    says: ['messengers', 'warning', /SMTP: greeting failed/, /port or the scheme/],
  },
  {
    fault: 'the SMS centre refuses the password',
    plant: () => ({ SMPP_URL: (healthy.SMPP_URL ?? '').replace(secret.slice(0, 8), 'wrong') }),
    says: ['messengers', 'warning', /SMPP: login failed .*ESME_RINVPASWD/, /user and password/],
  },
  {
    fault: 'another program is at the address of the SMS centre',
    plant: async () => ({ SMPP_URL: `smpp://us:${secret.slice(0, 8)}@${onPort(await chatterPort())}` }),
    says: ['messengers', 'warning', /SMPP: greeting failed/, /port or the scheme/],
  },
  {
    fault: 'the SMS provider has another certificate',
    plant: async () => ({
      SMS_HTTP_URL: `https://${onPort(await serverOf(createTlsServer({ cert, key })))}/?to={to}&text={text}`,
    }),
    says: ['messengers', 'warning', /SMS by HTTP: TLS failed .*self-signed/, /certificate of the server/],
  },
  {
    fault: 'a name server does not answer',
    plant: async () => ({ TOLLGATE_EGRESS_DNS: onPort(await closedPort()) }),
    says: ['egress', 'failed', /name servers .* does not answer/, /TOLLGATE_EGRESS_DNS/],
  },
  {
    fault: 'the egress proxy is down',
    plant: async () => ({ TOLLGATE_EGRESS_PROXY: `http://${onPort(await closedPort())}` }),
    says: [
      'egress',
      'failed',
      /the proxy .* connect failed/,
      /correct TOLLGATE_EGRESS_PROXY: .* no notification/,
    ],
  },
  {
    fault: 'the egress proxy refuses the password',
    plant: () => ({ TOLLGATE_EGRESS_PROXY: (healthy.TOLLGATE_EGRESS_PROXY ?? '').replace(secret, 'wrong') }),
    says: ['egress', 'failed', /refuses the user or the password/, /Correct TOLLGATE_EGRESS_PROXY/],
  },
  {
    fault: 'the egress proxy closes connections',
    plant: async () => ({ TOLLGATE_EGRESS_PROXY: `http://${onPort(await closingPort())}` }),
    says: [
      'egress',
      'failed',
      /the proxy .* closes the connection/,
      /TOLLGATE_EGRESS_PROXY: .* no notification/,
    ],
  },
  {
    fault: 'the proxy to providers resets connections',
    plant: async () => ({ TOLLGATE_PROVIDER_EGRESS_PROXY: `http://${onPort(await resettingPort())}` }),
    says: ['egress', 'failed', /the proxy .* closes the connection/, /TOLLGATE_PROVIDER_EGRESS_PROXY/],
  },
  {
    fault: 'the egress proxy does not answer',
    plant: async () => ({ TOLLGATE_EGRESS_PROXY: `http://${onPort(await silentPort())}` }),
    says: ['egress', 'warning', /the proxy .* does not answer/, /TOLLGATE_EGRESS_PROXY/],
  },
  {
    fault: 'the proxy to providers is another program',
    plant: async () => ({ TOLLGATE_PROVIDER_EGRESS_PROXY: `http://${onPort(await chatterPort())}` }),
    says: ['egress', 'failed', /does not answer with HTTP/, /TOLLGATE_PROVIDER_EGRESS_PROXY: .* no provider/],
  },
  {
    fault: 'every user may read the file of a secret',
    plant: () => {
      const file = join('node_modules', `.doctor-${process.pid}`) // not in memory, as a temporary folder may be
      writeFileSync(file, readFileSync(keyFile))
      chmodSync(file, 0o644)
      afterFile(() => rmSync(file))
      return { TOLLGATE_MASTER_KEY_FILE: file }
    },
    says: ['secret files', 'warning', /may read node_modules.* \(TOLLGATE_MASTER_KEY_FILE\)/, /chmod o-rwx/],
  },
  {
    fault: 'the master key is another one',
    plant: () => ({ TOLLGATE_MASTER_KEY_FILE: '', TOLLGATE_MASTER_KEY: newMasterKey() }),
    says: ['secrets', 'failed', /master key that is missing here/, /TOLLGATE_MASTER_KEY/],
  },
  {
    fault: 'another program has the port',
    plant: async () => ({ PORT: String(await chatterPort()) }),
    says: ['port', 'failed', /already in use/, /^$/],
  },
  {
    fault: 'the password of a merchant would be sent to any address',
    plant: async () => {
      const { merchant_id } = await gateway.addMerchant('allowed_origins=https://shop.example')
      await query(
        database.url,
        `update merchants set settings = '{"ipn_style": "basic", "form_ipn_url": "registered"}' where merchant_id = $1`,
        [merchant_id],
      )
      afterPlanted = () => query(database.url, 'update merchants set active = false')
      return {}
    },
    says: ['passwords', 'failed', /the password may not be sent/, /ipn_url=/],
    also: ['origins', 'dashboard'],
  },
]

let afterPlanted: (() => unknown) | undefined

test('a healthy installation raises nothing, and names what it has tried', async () => {
  const checks = await runDoctor(healthy)
  expect(notFine(checks)).toEqual([])
  const facts = checks.map(({ check, fact }) => `${check}: ${fact}`)
  for (const tried of [
    /^messengers: SMTP: .* accepts the login$/,
    /^messengers: SMPP: .* accepts the bind$/,
    /^messengers: SMS by HTTP: .* can be reached/,
    /^base URL: .* leads to this installation$/,
    /^proxies: one proxy sets X-Forwarded-For, as TOLLGATE_TRUST_PROXY says$/,
    /^schema: all tables/,
    /^privileges: .* has the rights/,
    /^timeouts: /,
    /^nodes: LISTEN/,
    /^port: a Tollgate is running/,
    /^secret files: no other user/,
  ])
    expect(facts).toContainEqual(expect.stringMatching(tried))
})

for (const { fault, plant, says, also = [], skip = false } of faults)
  test.skipIf(skip)(fault, async () => {
    const [check, state, fact, todo] = says
    const before = { target: front.target }
    try {
      const checks = notFine(await runDoctor({ ...healthy, ...(await plant()) }))
      const found = checks.find(one => one.check === check && fact.test(one.fact))
      expect(found ?? checks).toMatchObject({ check, state })
      expect(found?.todo ?? '').toMatch(todo)
      const others = checks.filter(one => one.check !== check).map(one => one.check)
      expect(others.filter(name => !also.includes(name))).toEqual([])
    } finally {
      Object.assign(front, before, { forwarded: 'replaced', answer: undefined })
      await afterPlanted?.()
      afterPlanted = undefined
    }
  })

test('the page on doctor names every planted fault', () => {
  const page = readFileSync('docs/doctor.md', 'utf8')
  const rows = faults.map(({ fault, says: [check, state] }) => `| \`${check}\` | ${fault} | ${state} |`)
  expect(rows.filter(row => !page.includes(row))).toEqual([])
})

const trusting = (HOST: string) => readConfig({ HOST, TOLLGATE_TRUST_PROXY: '1' })

test('a port that everybody reaches beside the trusted proxy, and a low limit of open files', () => {
  expect(checkExposure(trusting('0.0.0.0'), ['127.0.0.1', '8.8.4.4'])?.fact).toContain('port 8080 of 8.8.4.4')
  expect(checkExposure(trusting('0.0.0.0'), ['127.0.0.1', '10.0.0.7'])).toBeUndefined()
  expect(checkExposure(trusting('127.0.0.1'), ['8.8.4.4'])).toBeUndefined()
  const file = join(temporaryFolder(), 'limits')
  writeFileSync(file, 'Max open files            1024                 4096                 files\n')
  expect(checkOpenFiles(file)).toMatchObject({
    state: 'warning',
    fact: expect.stringContaining('up to 1024'),
  })
})
