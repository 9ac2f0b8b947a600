import crypto from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rotateKey } from '../../../src/actions/merchants/credentials.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import type { Runtime } from '../../../src/runtime/runtime.ts'
import type { Db } from '../../../src/store/db.ts'
import { createApi } from '../../../src/web/api/api.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { type Answer, newInvoice, send } from '../../support/merchant/merchant.ts'
import { testRuntime } from '../../support/gateway/runtime.ts'

// A guess must not be told from its timing. Clocks lie in tests, so the work itself is counted at every door of the
// interface: statements, and hashes. Whatever kind of guess it is, it costs the same.
type Work = { statements: number; hashes: number }
const spent: Work = { statements: 0, hashes: 0 }
const { createHmac } = crypto

let gateway: TestGateway
let server: Server
let url: string
let runtime: Runtime
let answerer: ReturnType<typeof createApi>
let keys: Record<'test' | 'live' | 'strict' | 'off' | 'ended', string>

beforeAll(async () => {
  gateway = await testGateway()
  server = createServer((incoming, outgoing) => void answerer(incoming, outgoing)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  crypto.createHmac = (...args: Parameters<typeof createHmac>) => {
    spent.hashes++
    return createHmac(...args)
  }
  syncBuiltinESMExports()
  keys = await guessable()
})
afterAll(async () => {
  crypto.createHmac = createHmac
  syncBuiltinESMExports()
  server.closeAllConnections()
  server.close()
  await gateway.stop()
})

async function guessable() {
  const [shop, strict, off] = [
    await gateway.addMerchant(),
    await gateway.addMerchant('signed_status_checks=on'),
    await gateway.addMerchant(),
  ]
  const { db, masterKeys } = gateway
  await gateway.deactivate(off.merchant_id)
  const ended = strict.test.merchant_key // its place is taken by a new one, and its time is over
  const young = await rotateKey(db, masterKeys, strict.merchant_id, 'test', 0, new Date(Date.now() - 1000))
  return {
    test: shop.test.merchant_key,
    live: shop.live.merchant_key,
    strict: young?.merchant_key ?? '',
    off: off.live.merchant_key,
    ended,
  }
}

const counted = (db: Db): Db => ({
  ...db,
  rows: query => {
    spent.statements++
    return db.rows(query)
  },
  one: query => {
    spent.statements++
    return db.one(query)
  },
  withDeadline: deadline => counted(db.withDeadline(deadline)),
  withQuota: verb => counted(db.withQuota(verb)),
})

// A gateway that has just started has an empty caller cache.
function freshRuntime() {
  const made = testRuntime({
    db: counted(gateway.db),
    masterKeys: gateway.masterKeys,
    batchRows: 10,
    poolSize: 2,
  })
  runtime = { ...made, limits: createRateLimits(() => 0) } // no time passes that gives tokens back
  const log = pino({ level: 'silent' })
  answerer = createApi({ runtime, baseUrl: () => url, trustedProxies: 0, log, observe: () => {} })
}

type Ask = (merchant_key: string) => Promise<Answer>
type Guess = { merchant_key: string; isKnown?: boolean } // known by heart, because it asks often

async function workOf(ask: Ask, { merchant_key, isKnown }: Guess, misses: number) {
  freshRuntime()
  if (isKnown) await runtime.callers.find(merchant_key)
  for (let miss = 0; miss < misses; miss++) runtime.limits.failedLookup('127.0.0.1')
  Object.assign(spent, { statements: 0, hashes: 0 })
  const { http } = await ask(merchant_key)
  expect(http).toBeGreaterThanOrEqual(400)
  return { ...spent }
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields)
const wrong = '0'.repeat(64)
const hash = { secure_hash: wrong }

const initiation = (path: string, more: Record<string, string>): Ask => {
  return merchant_key => {
    const body = form({ merchant_key, invoice_id: newInvoice(), total: '5.00', ...more })
    return send(url + path, { method: 'POST', body })
  }
}
const byQuery = (path: string, more: Record<string, string>, headers = {}): Ask => {
  return merchant_key => send(`${url}${path}?${form({ merchant_key, ...more }).toString()}`, { headers })
}
const check = (path: string, more = {}) => byQuery(path, { invoice_id: 'none', ...more })
const checkByForm = (path: string, more = {}): Ask => {
  return merchant_key =>
    send(url + path, { method: 'POST', body: form({ merchant_key, invoice_id: 'none', ...more }) })
}
const events = (signature?: string) =>
  byQuery('/v1/events', { after: '5' }, signature ? { 'x-tollgate-signature': signature } : {})
const now = () => Math.floor(Date.now() / 1000)

const statusDoors = ['/v1/gateway/json_status_chk', '/gateway/json_status_chk', '/v1/gateway/status_chk']
const wallet = { pymt_instrument: '0241234567', extra_wallet_issuer_hint: 'mtn' }
const doors: [string, Ask][] = [
  ['initiation', initiation('/v1/mobile_agents_v2', { generate_checkout_url: 'true', ...hash })],
  ['initiation, an odd hash', initiation('/v1/mobile_agents_v2', { secure_hash: 'x' })],
  ['initiation, no hash', initiation('/v1/mobile_agents_v2', { generate_checkout_url: 'true' })],
  ['initiation, no total', initiation('/v1/mobile_agents_v2', { total: '', ...hash })],
  ['direct', initiation('/v1/mobile_agents_v2', { ...wallet, ...hash })],
  ['direct, no hash', initiation('/v1/mobile_agents_v2', wallet)],
  ['form', initiation('/gateway', hash)],
  ['form, no hash', initiation('/gateway/checkout', {})],
  ['form by GET', byQuery('/gateway', { invoice_id: 'none', total: '5', ...hash })],
  ['form by GET, no hash', byQuery('/gateway', { invoice_id: 'none', total: '5' })],
  ...statusDoors.flatMap((path): [string, Ask][] => [
    [path, check(path)],
    [`${path}, an odd invoice`, check(path, { invoice_id: 'a\0b' })],
    [`${path}, wrong hash`, check(path, hash)],
    [`${path}, an odd hash`, check(path, { secure_hash: 'x' })],
    [`${path} by POST`, checkByForm(path)],
    [`${path} by POST, wrong hash`, checkByForm(path, hash)],
  ]),
  ['events', merchant_key => events(`t=${now()},v1=${wrong}`)(merchant_key)],
  ['events, long ago', merchant_key => events(`t=1772443800,v1=${wrong}`)(merchant_key)],
  ['events, no signature', events()],
  ['events, an odd signature', events('v1=x')],
]

for (const [door, ask] of doors) {
  describe(door, () => {
    test('a merchant that is known, one that is not, and one that was: the same work', async () => {
      const guesses: Guess[] = [
        { merchant_key: 'tk_stranger' },
        { merchant_key: keys.test },
        { merchant_key: keys.test, isKnown: true },
        { merchant_key: keys.strict },
        { merchant_key: keys.strict, isKnown: true },
        { merchant_key: keys.ended },
        { merchant_key: keys.ended, isKnown: true },
      ]
      await expectTheSame(ask, guesses)
    })

    test('live, switched off, impossible: the same work', async () => {
      const guesses: Guess[] = [
        { merchant_key: 'lk_stranger' },
        { merchant_key: 'a\0b' },
        { merchant_key: keys.live },
        { merchant_key: keys.live, isKnown: true },
        { merchant_key: keys.off },
        { merchant_key: keys.off, isKnown: true },
      ]
      await expectTheSame(ask, guesses)
    })

    test('from an address that has guessed too often: the same work', async () => {
      const stranger = { merchant_key: 'lk_stranger' }
      const regular = { merchant_key: keys.live, isKnown: true }
      const [unknown, known] = [await workOf(ask, stranger, 100), await workOf(ask, regular, 100)]
      expect(known).toEqual(unknown)
    })
  })
}

async function expectTheSame(ask: Ask, guesses: Guess[]) {
  const works = []
  for (const guess of guesses) {
    works.push({ ...guess, ...(await workOf(ask, guess, 0)) })
  }
  const { statements, hashes } = works[0] as Work
  expect(statements).toBeGreaterThan(0)
  expect(works).toEqual(guesses.map(guess => ({ ...guess, statements, hashes })))
}
