import { renameSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import { checkTransports } from '../../src/cli/doctor/checkConnections.ts'
import { HostClient } from '../../src/store/connections/hostClient.ts'
import { isSilent, whyNoConnection } from '../../src/store/connections/hosts.ts'
import { watchTimelines } from '../../src/store/connections/timelines.ts'
import { readTransports, type Transport } from '../../src/store/connections/transport.ts'
import { openDb, sql } from '../../src/store/db.ts'
import { startTlsServer } from '../support/database/tlsServer.ts'

vi.setConfig({ hookTimeout: 60_000 }) // it starts a server

let server: Awaited<ReturnType<typeof startTlsServer>>
beforeAll(async () => {
  server = await startTlsServer()
})
afterAll(() => server.stop())

// 'TLS', 'plain text', or the error.
async function transportOf(url: string): Promise<string> {
  try {
    const client = new HostClient(url, { connectionTimeoutMillis: 5000 })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    expect(rows[0].ssl).toBe(client.isEncrypted())
    await client.end()
    return rows[0].ssl ? 'TLS' : 'plain text'
  } catch (error) {
    return (error as Error).message
  }
}

const root = (file: string) => `sslrootcert=${encodeURIComponent(file)}`
const withCa = (text: string) => text.replace('CA', root(server.ca)).replace('OTHER', root(server.otherCa))

const unknownAuthority = /self-signed|unable to verify/
const otherHost = /does not match|altnames/i

for (const [parameters, host, expected] of [
  ['', '127.0.0.1', 'TLS'],
  ['sslmode=disable', '127.0.0.1', 'plain text'],
  ['sslmode=allow', '127.0.0.1', 'TLS'],
  ['sslmode=prefer', '127.0.0.1', 'TLS'],
  ['sslmode=require', '127.0.0.1', 'TLS'],
  ['sslmode=require&CA', '127.0.0.1', 'TLS'],
  ['sslmode=require&OTHER', '127.0.0.1', unknownAuthority],
  ['sslmode=verify-ca&CA', '127.0.0.1', 'TLS'],
  ['sslmode=verify-ca&OTHER', '127.0.0.1', unknownAuthority],
  ['sslmode=verify-ca', 'localhost', unknownAuthority],
  ['sslmode=verify-full&CA', 'localhost', 'TLS'],
  ['sslmode=verify-full&CA', '127.0.0.1', otherHost],
  ['sslmode=verify-full&OTHER', 'localhost', unknownAuthority],
  ['sslmode=verify-full', 'localhost', unknownAuthority],
  ['sslrootcert=system', 'localhost', unknownAuthority],
  ['sslmode=require&channel_binding=require', 'localhost', 'TLS'],
  ['sslmode=require&channel_binding=disable', 'localhost', 'TLS'],
  ['sslmode=disable&channel_binding=require', 'localhost', /channel/],
  ['sslmode=require&sslnegotiation=postgres', 'localhost', 'TLS'],
  ['sslmode=require&ssl_min_protocol_version=TLSv1.3', 'localhost', 'TLS'],
  ['ssl=true', 'localhost', unknownAuthority],
  ['ssl=0', 'localhost', 'plain text'],
  ['sslmode=no-verify', 'localhost', 'TLS'],
] as const)
  test(`with ${parameters || 'no parameters'}, ${host} is reached by: ${expected}`, async () => {
    const found = await transportOf(server.url(host, withCa(parameters)))
    if (typeof expected === 'string') expect(found).toBe(expected)
    else expect(found).toMatch(expected)
  })

test('a server that asks for a certificate gets it', async () => {
  const own = `sslcert=${encodeURIComponent(server.clientCert)}&sslkey=${encodeURIComponent(server.clientKey)}`
  expect(
    await transportOf(server.url('localhost', `sslmode=verify-full&${root(server.ca)}&${own}`, 'postgres')),
  ).toBe('TLS')
  expect(await transportOf(server.url('localhost', 'sslmode=require', 'postgres'))).toMatch(/certificate/)
})

test('a Unix socket has no TLS, whatever is demanded', async () => {
  expect(await transportOf(`${server.socketUrl}&sslmode=verify-full`)).toBe('plain text')
})

// A renewal deletes the old file and then writes the new one.
for (const name of ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl'] as const)
  test(`while the file of ${name} is missing, connections fail, and nothing else does`, async () => {
    const file = `${server.ca}.renewed`
    const url = server.url('localhost', `sslmode=require&${name}=${encodeURIComponent(file)}`)
    const expected = `the TLS file ${file} is not readable (ENOENT)`
    expect(await transportOf(url)).toBe(expected)
    const error = await new Promise(failed => new HostClient(url, {}).connect(failed))
    expect(error).toMatchObject({ message: expected })
    expect(await whyNoConnection(url)).toBe(expected)
    expect(await isSilent([url])).toBe(false)
    expect(await readTransports(url)).toEqual([])
    const timelines = watchTimelines([url, url])
    await timelines.firstProbe
    expect(timelines.oldPrimaries()).toEqual([])
    timelines.stop()
  })

test('a pool whose connection breaks while a file is missing goes on with the renewed one', async () => {
  const file = `${server.ca}.renewed`
  const db = openDb(server.url('localhost', `sslmode=verify-full&${root(server.ca)}`), 1)
  const isEncrypted = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
  let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined
  await db.transaction(async tx => {
    await tx.rows(sql`select 1`)
    if (waiting) return
    const hasty = db.withDeadline(performance.now() + 500).rows(isEncrypted)
    waiting = Promise.allSettled([db.rows(isEncrypted), hasty])
    renameSync(server.ca, file)
    setTimeout(() => renameSync(file, server.ca), 1000)
    await tx.rows(sql`select pg_terminate_backend(pg_backend_pid())`)
  })
  const [patient, hasty] = (await waiting) ?? []
  expect(patient).toMatchObject({ value: [{ ssl: true }] })
  expect(hasty).toMatchObject({ reason: expect.any(Unavailable) })
  await db.end()
})

const states = (...transports: Transport[]) => {
  const { state, fact } = checkTransports(transports) ?? {}
  return `${state}: ${fact}`
}

test('doctor warns about plain text to another machine only', async () => {
  const [local] = await readTransports(server.url('localhost', 'sslmode=disable'))
  expect(local).toEqual({ host: 'localhost', isRemote: false, encryption: 'none', isPlainBehind: false })
  expect(await readTransports('postgres://nobody@127.0.0.1:1/none')).toEqual([])
  const remote = { host: 'db.example', isRemote: true, encryption: 'none', isPlainBehind: false } as const
  expect(local && states(local)).toMatch(/^ok: not needed/)
  expect(states(remote)).toMatch(/^warning: db\.example: .* in plain text$/)
  expect(states({ ...remote, encryption: 'verified' })).toMatch(/^ok: encrypted, and the server is verified$/)
  expect(states({ ...remote, encryption: 'unverified' })).toMatch(/^ok: .*db\.example is not verified/)
  expect(states({ ...remote, encryption: 'verified', isPlainBehind: true })).toMatch(/^warning: the pooler/)
  for (const [parameters, encryption] of [
    ['sslmode=require', 'unverified'],
    [`sslmode=verify-full&${root(server.ca)}`, 'verified'],
  ])
    expect(await readTransports(server.url('localhost', parameters ?? ''))).toMatchObject([{ encryption }])
})

test('without TLS on the server, only allow and prefer continue in plain text', async () => {
  await server.setTls(false)
  for (const parameters of ['', 'sslmode=allow', 'sslmode=prefer'])
    expect(await transportOf(server.url('localhost', parameters))).toBe('plain text')
  for (const parameters of ['sslmode=require', `sslmode=verify-ca&${root(server.ca)}`, 'sslmode=verify-full'])
    expect(await transportOf(server.url('localhost', parameters))).toMatch(/does not support SSL/)
  const db = openDb(server.url('127.0.0.1', ''), 2)
  expect(await Promise.all([db.rows(sql`select 1`), db.rows(sql`select 1`)])).toHaveLength(2)
  await db.end()
  await server.setTls(true)
  const again = openDb(server.url('127.0.0.1', ''), 1)
  expect(await again.rows(sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`)).toEqual([
    { ssl: true },
  ])
  await again.end()
})
