import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { rewrapAccounts } from '../../../src/actions/providers/rewrapAccounts.ts'
import type { SharedToken } from '../../../src/core/provider/provider.ts'
import { createSharedTokens } from '../../../src/runtime/providers/token.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { claimToken } from '../../../src/store/providers/tokens.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'

// A provider of whom each new token ends the one before, and two nodes that talk to it.
let database: FreshDatabase
let nodes: Db[]
let server: Server
let minted: string[]
let current: string | undefined
let isHanging: boolean
const masterKey = randomBytes(32)
let now = new Date('2026-11-15T12:00:00Z')
const clock = () => now
const later = (ms: number) => new Date(now.getTime() + ms)

beforeAll(async () => {
  database = await migratedDatabase()
  nodes = [openDb(database.url, 4), openDb(database.url, 4)]
  server = createServer((request, response) => {
    if (request.url === '/token') {
      if (isHanging) return
      current = `secret-${minted.length + 1}-${randomBytes(8).toString('hex')}`
      minted.push(current)
      response.end(current)
      return
    }
    response.statusCode = request.headers.authorization === current ? 200 : 401
    response.end()
  }).listen(0)
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await Promise.all(nodes.map(db => db.end()))
  await database.drop()
})
beforeEach(() => {
  minted = []
  current = undefined
  isHanging = false
})
afterEach(() => query(database.url, 'delete from provider_tokens'))

const url = (path: string) => `http://localhost:${(server.address() as AddressInfo).port}${path}`
const make = async (signal: AbortSignal) => ({
  token: await (await fetch(url('/token'), { method: 'POST', signal })).text(),
  lifetimeMs: 3_600_000,
})
const ourSettings = { api_user: 'one', api_key: 'hidden' }
const nodeOf = (at: number, settings = ourSettings): SharedToken =>
  createSharedTokens({ db: nodes[at] as Db, masterKeys: givenMasterKeys([masterKey]), clock }).of(
    'mtn',
    settings,
  )
const anyLong = () => new AbortController().signal

const ask = async (authorization: string) => (await fetch(url('/pay'), { headers: { authorization } })).status

// What a provider does: asks, and once more with another token where the first was refused.
async function pay(token: SharedToken) {
  const first = await token(make, anyLong())
  const http = await ask(first)
  return http === 401 ? ask(await token(make, anyLong(), first)) : http
}

test('concurrent callers on two nodes get one token', async () => {
  const [one, other] = [nodeOf(0), nodeOf(1)]
  const got = await Promise.all([...Array(20)].map((_, at) => (at % 2 ? one : other)(make, anyLong())))
  expect(minted).toHaveLength(1)
  expect(new Set(got)).toEqual(new Set(minted))
})

test('a refused token is replaced once, however many callers were refused', async () => {
  const [one, other] = [nodeOf(0), nodeOf(1)]
  await pay(one)
  await pay(other)
  current = 'somebody made another elsewhere'
  expect(await Promise.all([one, other, one, other].map(pay))).toEqual([200, 200, 200, 200])
  expect(minted).toHaveLength(2)
})

test('a node that starts uses the stored token', async () => {
  await pay(nodeOf(0))
  expect(await pay(nodeOf(1))).toBe(200)
  expect(minted).toHaveLength(1)
})

test('a token is replaced before it expires', async () => {
  const [one, other] = [nodeOf(0), nodeOf(1)]
  await Promise.all([pay(one), pay(other)])
  const began = now
  now = later(3_600_000 - 59_000)
  expect(await pay(one)).toBe(200)
  expect(await pay(other)).toBe(200)
  expect(minted).toHaveLength(2)
  now = began
})

// Killed with -9 between the claim and the end: nobody gives it back.
test('if a node dies during a token request, another node requests one when the claim expires', async () => {
  await claimToken(
    nodes[0] as Db,
    { provider_account: 'mtn', settings: '' },
    { maker: 'died', formerMadeAt: null, now, until: later(300) },
  )
  const began = now
  const moving = setInterval(() => (now = later(100)), 20)
  expect(await pay(nodeOf(1))).toBe(200)
  clearInterval(moving)
  now = began
})

test('a token that was issued and not stored costs one refusal', async () => {
  const [one, other] = [nodeOf(0), nodeOf(1)]
  await Promise.all([pay(one), pay(other)])
  await make(anyLong()) // by a node that dies then
  expect(await Promise.all([pay(one), pay(other)])).toEqual([200, 200])
  expect(minted).toHaveLength(3)
})

test('a provider that hangs delays no caller beyond its own deadline, and the next caller tries again', async () => {
  isHanging = true
  const token = nodeOf(0)
  const waiting = new AbortController()
  const hanging = token(make, waiting.signal)
  waiting.abort(new Error('no answer in time'))
  await expect(hanging).rejects.toThrow('no answer in time')
  isHanging = false
  server.closeAllConnections()
  await expect.poll(() => token(make, anyLong()).catch(() => 'not yet')).toMatch(/^secret-/)
})

const refusing = () => Promise.reject(new Error('HTTP 401'))

test('requests to a provider that refuses end', async () => {
  const token = nodeOf(0)
  await expect(token(refusing, anyLong())).rejects.toThrow('HTTP 401')
  expect(await pay(token)).toBe(200)
})

test('a stored token is sealed for its account, and one that no key opens is ignored', async () => {
  await pay(nodeOf(0))
  const dump = JSON.stringify(
    await query(database.url, `select encode(sealed_token, 'escape') as s, * from provider_tokens`),
  )
  expect(dump).not.toContain(minted[0])
  await query(database.url, `update provider_tokens set provider_account = 'paystack'`)
  const stolen = createSharedTokens({ db: nodes[0] as Db, masterKeys: givenMasterKeys([masterKey]), clock })
  expect(await stolen.of('paystack', ourSettings)(make, anyLong())).toBe(minted[1])
  const otherKey = createSharedTokens({
    db: nodes[0] as Db,
    masterKeys: givenMasterKeys([randomBytes(32)]),
    clock,
  })
  expect(await otherKey.of('paystack', ourSettings)(make, anyLong())).toBe(minted[2])
})

test('a token of other settings is never used, whatever the order of the settings', async () => {
  await pay(nodeOf(0))
  const { api_user, api_key } = ourSettings
  await pay(nodeOf(1, { api_key, api_user }))
  expect(minted).toHaveLength(1)
  await pay(nodeOf(1, { api_user: 'two', api_key }))
  expect(minted).toHaveLength(2)
})

const odd = async (signal: AbortSignal) => ({ ...(await make(signal)), lifetimeMs: Number.NaN })

test('a token with an invalid lifetime is used once', async () => {
  const token = nodeOf(0)
  expect([await token(odd, anyLong()), await token(odd, anyLong())]).toEqual(minted)
  expect(minted).toHaveLength(2)
})

test('a change of the master key deletes the tokens of the old one, and callers get new ones', async () => {
  const [one, other] = [nodeOf(0), nodeOf(1)]
  await Promise.all([pay(one), pay(other)])
  const newer = givenMasterKeys([randomBytes(32), masterKey])
  await rewrapAccounts(nodes[0] as Db, newer, now)
  expect(await query(database.url, 'select provider_account from provider_tokens')).toEqual([])
  const fresh = createSharedTokens({ db: nodes[0] as Db, masterKeys: newer, clock }).of('mtn', ourSettings)
  expect(await Promise.all([fresh, one, fresh].map(pay))).toEqual([200, 200, 200])
})
