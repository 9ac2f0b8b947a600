import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, test } from 'vitest'
import type { Credentials } from '../../src/actions/merchants/onboard.ts'
import { openDb, sql } from '../../src/store/db.ts'
import { type Cut, cuts } from '../support/database/postgresProxy.ts'
import { type BehindProxy, gatewayBehindProxy } from '../support/gateway/behindProxy.ts'
import {
  askSlowMachine,
  checkStatus,
  post,
  type Request,
  signedRequest,
} from '../support/merchant/merchant.ts'

let house: BehindProxy
let shop: Credentials

beforeAll(async () => {
  house = await gatewayBehindProxy()
  shop = await house.register(house.db)
})
beforeEach(() => void (house.proxy.onStatement = () => undefined))
afterAll(() => house.stop())

// Cuts every fourth of the statements that match, each time in another way, and counts.
function cutEveryFourth(statement: RegExp) {
  const done = new Map<Cut, number>()
  let seen = 0
  house.proxy.onStatement = text => {
    if (!statement.test(text) || ++seen % 4 !== 0) return undefined
    const cut = cuts[(seen / 4) % cuts.length]
    if (cut) done.set(cut, (done.get(cut) ?? 0) + 1)
    return cut
  }
  return done
}

// Forty at a time, as many customers at once would.
async function each<T>(all: Request[], ask: (one: Request) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  const left = all.entries()
  const worker = async () => {
    for (const [at, one] of left) answers[at] = await ask(one)
  }
  await Promise.all(Array.from({ length: 40 }, worker))
  return answers
}

const requests = (n: number) => Array.from({ length: n }, () => signedRequest(shop))
const initiate = (request: Request) => askSlowMachine(() => post(house.gateway.url, request))

test('a connection cut around a commit is no error for anyone, and stores nothing twice', async () => {
  const done = cutEveryFourth(/^\s*insert into payments/)
  const all = requests(600)
  const answers = await each(all, initiate)
  assert.deepEqual([...new Set(answers.map(answer => answer.http))], [200])
  assert.deepEqual(
    await house.stored(all),
    answers.map(answer => [answer.body.tx_reference]),
  )
  for (const cut of cuts) assert.ok((done.get(cut) ?? 0) >= 3, `${cut}: ${done.get(cut)}`)
})

test('a connection cut around a look-up is no error either', async () => {
  const all = requests(40)
  const created = await each(all, initiate)
  const done = cutEveryFourth(/^\s*select merchant_id, mode, invoice_id, p\./)
  const { merchant_key } = shop
  const asked = Array.from({ length: 10 }, () => all).flat()
  const answers = await each(asked, ({ invoice_id }) =>
    askSlowMachine(() => checkStatus(house.gateway.url, { merchant_key, invoice_id })),
  )
  assert.deepEqual(
    answers.map(({ body }) => body.tx_reference ?? body),
    asked.map(one => created[all.indexOf(one)]?.body.tx_reference),
  )
  assert.deepEqual([...done.keys()].sort(), [...cuts].sort())
})

const countMerchants = async () => (await house.sql('select count(*)::int as n from merchants'))[0].n

for (const cut of cuts) {
  test(`a registration whose commit is cut (${cut}) registers one merchant, whose keys work`, async () => {
    const before = await countMerchants()
    let isCut = false
    house.proxy.onStatement = text => {
      if (text !== 'commit' || isCut) return undefined
      isCut = true
      return cut
    }
    const db = openDb(house.proxy.url, 2)
    const keys = await house.register(db)
    await db.end()
    assert.ok(isCut)
    assert.equal(await countMerchants(), before + 1)
    assert.equal((await initiate(signedRequest(keys))).http, 200)
  })
}

test('a statement that the server gives up on is tried again', async () => {
  const request = signedRequest(shop)
  let answer: ReturnType<typeof post> | undefined
  await house.db.transaction(async tx => {
    await tx.rows(sql`lock table payments in access exclusive mode`)
    answer = initiate(request)
    for (let cancelled = 0; cancelled < 3; ) cancelled += (await house.sql(cancelWaiting)).length
  })
  assert.equal((await answer)?.http, 200)
  assert.equal((await house.stored([request]))[0]?.length, 1)
})

const cancelWaiting = `
  select pg_cancel_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query ~ 'insert into payments'`
