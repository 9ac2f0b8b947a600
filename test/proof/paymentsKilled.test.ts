import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { stateAt } from '../../src/sandbox/charge.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { type Charge, decideCharge } from '../../src/store/sandboxCharges.ts'
import { faultsAtRest, faultsOf } from '../payments/walk/faults.ts'
import type { Entry } from '../payments/walk/provider.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { readPayments } from '../support/payments/paymentDatabase.ts'
import { type KilledGateway, keepRequesting, startKilledGateway } from '../support/processes/killedGateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { random } from '../support/random.ts'

const killsOfEach = 15
const shops = 16
const enough = 60 // payments
const quietWithinMs = 120_000 // the slowest wallet takes 20 s, and a no is asked about again after 20 s

const masterKey = randomBytes(32)
let database: FreshDatabase
let db: Db
let merchant_id: string
let shop: Credentials
const gateways: (KilledGateway & { done: Promise<void> })[] = []

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  assert.ok(merchant.test)
  merchant_id = merchant.merchant_id
  shop = merchant.test
})
afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()))
  await db.end()
  await database.drop()
})

const charges = () => db.rows<Charge>(sql`select * from sandbox_charges`)

// The provider's orders as the walks read them.
function entryOf(charge: Charge, now: Date): Entry {
  const { status } = stateAt(charge, now)
  return {
    reference: charge.reference,
    name: charge.reference,
    amount: charge.amount,
    truth: status === 'SUCCESSFUL' ? 'charged' : status === 'FAILED' ? 'refused' : 'pending',
    charges: status === 'SUCCESSFUL' ? 1 : 0,
    wasRefused: status === 'FAILED' || charge.ending === 'failed_then_paid',
    starts: 1,
    taken: charge.created_at.getTime(),
    visible: 0,
    lastCharge: 0,
    callsBack: false,
    refusedAt: 0,
    code: 'none',
    wrongCodes: 0,
    refunds: [],
    ours: [],
    disputes: [],
  }
}

// Every payment with what does not hold of it.
async function faults(): Promise<string[]> {
  const entries = (await charges()).map(charge => entryOf(charge, new Date()))
  const rows = await db.rows<{ tx_reference: string }>(sql`select tx_reference from payments`)
  const lives = await readPayments(
    db,
    merchant_id,
    rows.map(({ tx_reference }) => tx_reference),
  )
  const known = new Set(lives.flatMap(({ attempts }) => attempts.map(({ attempt_id }) => attempt_id)))
  const strangers = entries.filter(({ reference }) => !known.has(reference))
  return [
    ...strangers.map(({ reference }) => `a charge of nobody: ${reference}`),
    ...lives.flatMap(life => {
      const ours = entries.filter(entry => life.attempts.some(a => a.attempt_id === entry.reference))
      const orders = new Map(ours.map(entry => [entry.reference, entry]))
      const found = [...faultsOf(life, orders), ...faultsAtRest(life, orders, new Date())]
      if (life.attempts.length !== 1) found.push(`${life.attempts.length} attempts`)
      const isLost = life.attempts[0]?.reason === 'never_arrived'
      if (orders.size !== (isLost ? 0 : 1)) found.push(`${orders.size} charges`)
      if (ours.some(({ truth }) => truth === 'pending')) found.push('pending')
      return found.map(fault => `${life.payment.tx_reference} ${fault}`)
    }),
  ]
}

// Prompts that wait for a person get one, who calls back; those that were sent again get theirs later.
async function peopleDecide() {
  for (const { ending, decided, reference } of await charges()) {
    if (ending !== 'waits_for_person' || decided) continue
    const chosen = random() < 0.5 ? 'person_approved' : 'person_declined'
    await decideCharge(db, reference, chosen, new Date())
    await send(`${gateways[0]?.url()}/callbacks/${reference}`, { method: 'POST' })
  }
}

// An order that was stored by a gateway that died is sent again once. Where that gateway died too, or nobody lived for a
// minute, it is given up when the provider has not shown it for six: nobody has to sit through them here.
const letTimePass = () =>
  db.rows(sql`
    update attempts a set created_at = created_at - interval '6 minutes', next_poll_at = now()
    where state in ('started', 'unknown') and created_at > now() - interval '4 minutes'
      and (resent_at < now() - interval '15 seconds' or created_at < now() - interval '80 seconds')
      and not exists (select from sandbox_charges c where c.reference = a.attempt_id)`)

// On a slow machine few payments come between the kills, and a gateway is rarely between stored and sent when it is hit.
// One such blow has to come so late that somebody lives to send it again.
async function hasSeenAll() {
  const [seen] = await db.rows<{ payments: bigint; lost: bigint; resent: bigint }>(sql`
    select (select count(*) from payments) as payments,
      (select count(*) from events where kind = 'attempt_resent') as resent,
      (select count(*) from attempts a where state in ('started', 'unknown')
        and created_at between now() - interval '25 seconds' and now() - interval '5 seconds'
        and not exists (select from sandbox_charges c where c.reference = a.attempt_id)) as lost`)
  return Number(seen?.payments) > enough && (Number(seen?.lost) > 1 || Number(seen?.resent) > 0)
}

test(`two gateways killed ${2 * killsOfEach} times while shops charge wallets: each payment has one charge, and ends as the charge did`, async () => {
  const env = {
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
    LOG_LEVEL: 'error',
  }
  gateways.push(...(await Promise.all([1, 2].map(() => startKilledGateway(env, killsOfEach, hasSeenAll)))))
  let isOver = false
  const asking = Promise.all(
    Array.from({ length: shops }, () => keepRequesting(shop, gateways, () => isOver)),
  )
  await Promise.all(gateways.map(({ done }) => done))
  isOver = true
  const requests = (await asking).flat()
  let left = ['not counted yet']
  for (const since = Date.now(); left.length > 0 && Date.now() - since < quietWithinMs; await sleep(500)) {
    await peopleDecide()
    await letTimePass()
    left = await faults()
  }
  assert.deepEqual(left, [])
  const stored = await db.rows<{ invoice_id: string }>(sql`select invoice_id from payments`)
  assert.deepEqual(
    stored.map(({ invoice_id }) => invoice_id).toSorted(),
    requests.map(({ invoice_id }) => invoice_id).toSorted(),
  )
  const kinds = await db.rows<{ kind: string }>(sql`select distinct kind from events`)
  assert.ok(kinds.some(({ kind }) => kind === 'attempt_resent')) // else no blow came between stored and sent
  assert.ok(requests.length > enough)
}, 900_000)
