import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'

const most = 14 // of one payment alone
const many = 50

let database: FreshDatabase
let proxy: PostgresProxy
let gateway: TestGateway
let receiver: Receiver
let db: Db // past the proxy
let keys: Credentials
let statements: Statements

beforeAll(async () => {
  database = await migratedDatabase()
  proxy = await startPostgresProxy(database.url)
  const counting = countStatements(proxy) // from the start on, which is nobody's payment
  gateway = await testGateway(
    { DATABASE_URL: proxy.url, TOLLGATE_EGRESS_LOOPBACK: 'on' },
    { sandboxPace: 0.2 },
  )
  receiver = await openReceiver()
  db = openDb(database.url, 2)
  const { merchant_id, test: given } = await onboard(db, gateway.masterKeys, 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant_id, ['rate_limit=0'])
  keys = given as Credentials
  statements = await counting
  await statements.of(() => payAll(2)) // what is kept in memory is there
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
  await db.end()
  await proxy.stop()
  await database.drop()
})

let customers = 0

// From the initiation to a shop that was told and has asked once: paid.
async function pay() {
  const number = `024${1_000_000 + ++customers * 1000}` // the simulated provider approves it by itself
  const request = signedRequest(keys, { number, ipn_url: `${receiver.url}/ipn` })
  const initiated = await post(gateway.url, request)
  expect(initiated.http, initiated.text).toBe(200)
  const { tx_reference, checkout_url } = initiated.body
  const { text } = await send(checkout_url)
  const { action, fields } = payForm(text)
  const paid = await send(new URL(action, checkout_url).href, { method: 'POST', body: fields })
  expect(paid.http).toBe(303)
  await until(() => receiver.of(tx_reference).length === 1)
  const { body } = await checkStatus(gateway.url, signedQuestion(keys, request.invoice_id))
  expect(body.status).toBe('paid')
}

// And all of it written down.
async function payAll(count: number) {
  await Promise.all(Array.from({ length: count }, pay))
  const left = sql`select (select count(*) from deliveries where acknowledged_at is null) +
    (select count(*) from messages where next_try_at is not null) as left`
  await until(async () => (await db.one<{ left: bigint }>(left))?.left === 0n)
}

async function until(isSo: () => boolean | Promise<boolean>) {
  while (!(await isSo())) await sleep(20)
}

const attribute = (tag: string, name: string) =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll('&amp;', '&')

// The form as a browser sends it when nothing on it was touched.
function payForm(html: string) {
  const [, attributes = '', inside = ''] =
    [...html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)].find(([, one]) => one?.includes('/pay')) ?? []
  const inputs = [...inside.matchAll(/<input[^>]*>/g)].map(([tag]) => tag)
  const sent = inputs.filter(tag => !/type="(radio|checkbox)"/.test(tag) || /\schecked/.test(tag))
  const fields = sent.map((tag): [string, string] => [
    attribute(tag, 'name') ?? '',
    attribute(tag, 'value') ?? '',
  ])
  return { action: attribute(attributes, 'action') ?? '', fields: new URLSearchParams(fields) }
}

const shown = (list: readonly string[]) => list.map((text, at) => `${at + 1}. ${text}`).join('\n')

// On a slow machine one may take more: its provider calls back before the start is written down, or the merchant has to be read
// again after half a second.
test('one payment alone takes few statements', async () => {
  let fewest: string[] | undefined
  for (let time = 0; time < 5 && (fewest?.length ?? Infinity) > most; time++) {
    const counted = await statements.of(() => payAll(1))
    if (counted.length < (fewest?.length ?? Infinity)) fewest = counted
  }
  expect(fewest?.length, shown(fewest ?? [])).toBeLessThanOrEqual(most)
})

test('many payments at once share them', async () => {
  const counted = await statements.of(() => payAll(many))
  console.info(`${many} payments at once: ${counted.length / many} statements each`)
  expect(counted.length).toBeGreaterThan(0)
})

type Statements = {
  of(work: () => Promise<unknown>): Promise<string[]> // the statements that this work sent
}

const idleMs = 1500 // longer than the pause of any worker that payments need

// Not counted: transaction control, the tables of the simulated provider, and what nodes exchange every few seconds
// (account health), however many payments there are.
const uncounted = [
  /as accounts \(account, mode\)/, // the due check: how many rows it returns depends on what is due
  /^\s*(begin|commit|rollback|set|start transaction|savepoint|release)\b/i,
  /^select set_config\('plan_cache_mode'/, // planner settings, sent together with the statement after them
  /\bsandbox_charges\b/i,
  /\bprovider_health\b/i,
  /^\s*(un)?listen\b|^\s*notify\b|\bpg_notify\b/i,
]

// Counts the statements of a gateway. Statements that an idle gateway sends are recorded first, and count only if the server
// replies differently than it did then, as to a poll that finds something.
async function countStatements(counting: PostgresProxy): Promise<Statements> {
  const whenIdle = new Map<string, Set<string>>()
  let counted: string[] | undefined

  counting.onDone = (text, tag) => {
    if (uncounted.some(pattern => pattern.test(text))) return
    const usual = whenIdle.get(text)
    if (!counted) whenIdle.set(text, (usual ?? new Set()).add(tag))
    else if (!usual?.has(tag)) counted.push(`${text.replaceAll(/\s+/g, ' ').trim()} -> ${tag}`)
  }
  await sleep(idleMs)
  return {
    async of(work) {
      counted = []
      try {
        await work()
        return counted
      } finally {
        counted = undefined
        await sleep(idleMs)
      }
    },
  }
}
