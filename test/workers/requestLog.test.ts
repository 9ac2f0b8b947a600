import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newestRequests } from '../../src/actions/requests/findRequests.ts'
import {
  malformed,
  type Refusal,
  ShardUnavailable,
  Unavailable,
  wrongHash,
} from '../../src/core/interface/refusal.ts'
import { storedPerCode } from '../../src/core/interface/refusedRequest.ts'
import { newRequestId } from '../../src/runtime/ids.ts'
import { type Db, openDb, type Query, sql } from '../../src/store/db.ts'
import {
  forgetOldRefused,
  type RefusalOutcome,
  type RequestLog,
  startRequestLog,
} from '../../src/workers/requestLog.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { after, hours, noon } from '../support/payments/rows.ts'

const days = (count: number) => hours(24 * count)
const merchant = { merchant_id: 'm1', mode: 'test' } as const

let database: FreshDatabase
let db: Db
const logs: RequestLog[] = []
let now = noon
let counted: Partial<Record<RefusalOutcome, number>>
let troubles: unknown[]

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
})
beforeEach(async () => {
  now = noon
  counted = {}
  troubles = []
  await db.rows(sql`truncate refused_requests, refused_counts`)
})
afterAll(async () => {
  await Promise.all(logs.map(log => log.stop()))
  await db.end()
  await database.drop()
})

function startLog(on: Db = db): RequestLog {
  const log = startRequestLog({
    db: on,
    clock: () => now,
    observe: (outcome, count) => void (counted[outcome] = (counted[outcome] ?? 0) + count),
    trouble: error => void troubles.push(error),
  })
  logs.push(log)
  return log
}

const ofMerchant = (refusal: Refusal, to: Refusal['merchant'] = merchant): Refusal =>
  Object.assign(refusal, { merchant: to })

const refuse = (log: RequestLog, refusal = ofMerchant(malformed('total', 'must be text')), fields = {}) =>
  log.record({ requestId: newRequestId(), method: 'POST', path: '/v1/mobile_agents_v2', refusal, fields })

const stored = () => newestRequests(db, { merchant_id: merchant.merchant_id, limit: 1000 })
const fail = () => Promise.reject(new Error('gone'))

test('a refused request is stored, within two seconds and without being awaited', async () => {
  const log = startLog()
  refuse(log, undefined, { invoice_id: 'AMA-1', number: '0244123456' })
  expect((await stored()).requests).toEqual([])
  await expect
    .poll(async () => (await stored()).requests, { timeout: 5000 })
    .toMatchObject([
      {
        ...merchant,
        refused_at: noon,
        method: 'POST',
        path: '/v1/mobile_agents_v2',
        http: 400,
        code: 'GW-012',
        field: 'total',
        message: 'total: must be text',
        hint: null,
        fields: { invoice_id: 'AMA-1', number: '024 ••• 3456' },
      },
    ])
  expect(counted).toEqual({ stored: 1 })
})

test('a request without a merchant is only counted, and one that got 503 is neither', async () => {
  const log = startLog()
  refuse(log, malformed(undefined, 'no JSON'))
  refuse(log, ofMerchant(new Unavailable(undefined)))
  await log.flush()
  expect((await stored()).requests).toEqual([])
  expect(counted).toEqual({ no_merchant: 1 })
})

test('of each code so many are stored on a day by all nodes, and all are counted', async () => {
  const nodes = [startLog(), startLog()]
  for (let at = 0; at < storedPerCode; at++)
    for (const node of nodes) refuse(node, undefined, { invoice_id: `A-${at}` })
  refuse(nodes[0] as RequestLog, ofMerchant(wrongHash('is missing')))
  await Promise.all(nodes.map(node => node.flush()))
  const { requests, notStored } = await stored()
  expect(requests).toHaveLength(storedPerCode + 1)
  expect(notStored).toBe(storedPerCode)
  expect(counted).toEqual({ stored: storedPerCode + 1, over_cap: storedPerCode })

  refuse(nodes[0] as RequestLog)
  await nodes[0]?.flush()
  expect((await stored()).notStored).toBe(storedPerCode + 1)
  now = after(days(1))
  refuse(nodes[0] as RequestLog)
  await nodes[0]?.flush()
  expect((await stored()).requests[0]?.refused_at).toEqual(now)
})

test('a full queue drops requests and counts them', async () => {
  const log = startLog()
  for (let at = 0; at < 2500; at++)
    refuse(log, ofMerchant(malformed('total', 'x'), { merchant_id: `m${at}`, mode: 'live' }))
  expect(counted).toEqual({ dropped: 500 })
  await log.flush()
  expect(counted).toEqual({ dropped: 500, stored: 2000 })
})

test('a failed write is counted and reported, and the next one is not affected', async () => {
  const broken: Db = { ...db, transaction: fail, withQuota: () => broken, withDeadline: () => broken }
  const failing = startLog(broken)
  for (let at = 0; at < 3; at++) refuse(failing)
  await failing.flush()
  expect(counted).toEqual({ dropped: 3 })
  expect(troubles).toHaveLength(1)
})

const isOfLost = ({ values }: Query) => JSON.stringify(values).includes('lost')
const gone = () => Promise.reject(new ShardUnavailable('gone'))

test('a worker of a sharded database is gone: only the requests of its merchants are dropped', async () => {
  const transaction: Db['transaction'] = steps =>
    db.transaction(tx => steps({ ...tx, rows: query => (isOfLost(query) ? gone() : tx.rows(query)) }))
  const broken: Db = { ...db, transaction, withQuota: () => broken, withDeadline: () => broken }
  const log = startLog(broken)
  for (const merchant_id of ['m1', 'lost', 'm1', 'm2'])
    refuse(log, ofMerchant(malformed('total', 'x'), { merchant_id, mode: 'test' }))
  await log.flush()
  expect(counted).toEqual({ stored: 3, dropped: 1 })
  expect((await stored()).requests).toHaveLength(2)
  expect(troubles).toHaveLength(1)
})

test('a stop writes what is queued', async () => {
  const log = startLog()
  refuse(log)
  await log.stop()
  expect((await stored()).requests).toHaveLength(1)
})

test('requests and counts are removed after 30 days', async () => {
  const log = startLog()
  refuse(log)
  await log.flush()
  expect(await forgetOldRefused(db, after(days(30)))).toBe(0)
  expect(await forgetOldRefused(db, after(days(30) + 1))).toBe(1)
  expect((await stored()).requests).toEqual([])
  expect(await forgetOldRefused(db, after(days(31)))).toBe(1) // the count of the day
  expect(await forgetOldRefused(db, after(days(31)))).toBe(0)
})
