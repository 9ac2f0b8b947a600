import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { readConfig } from '../../src/config.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { openDatabase } from '../../src/start/database.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, type Request, signedRequest } from '../support/merchant/merchant.ts'
import { random } from '../support/random.ts'

const rounds = 20
const customers = 32

type Asked = { request: Request; reference?: string } // no reference: not answered

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-kill-'))
const litter = [dataDir]
const asked: Asked[] = []
let shop: Credentials
let gateway: GatewayProcess | undefined

beforeAll(async () => {
  const records = await openDatabase(readConfig({ TOLLGATE_DATA_DIR: dataDir }), 'command')
  await migrate(records.db)
  const merchant = await onboard(records.db, records.masterKeys, 'Ama Shop', ['test'], new Date())
  await setMerchant(records.db, merchant.merchant_id, ['rate_limit=0'])
  await records.close()
  assert.ok(merchant.test)
  shop = merchant.test
})
afterAll(async () => {
  await gateway?.kill('SIGTERM')
  for (const folder of litter) rmSync(folder, { recursive: true, force: true })
})

const answered = () => asked.filter(one => one.reference)

const start = async () => (gateway = await spawnGateway({ TOLLGATE_DATA_DIR: dataDir, LOG_LEVEL: 'warn' }))

// Asks for one payment after another until nobody answers.
async function customer(url: string) {
  for (;;) {
    const one: Asked = { request: signedRequest(shop) }
    asked.push(one)
    try {
      const { http, body } = await post(url, one.request)
      assert.equal(http, 200)
      one.reference = body.tx_reference
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      return
    }
  }
}

// Sometimes the gateway alone, whose server then has to notice; sometimes the server with it, in one blow.
async function kill(running: GatewayProcess, withServer: boolean) {
  const note = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
  const [postmaster, , , , sockets = ''] = note.split('\n')
  if (withServer) process.kill(Number(postmaster), 'SIGKILL')
  await running.kill('SIGKILL')
  litter.push(sockets) // nobody is left to remove them
}

test(`killed ${rounds} times under load: what was answered is there, what was not can be repeated, nothing is there twice`, async () => {
  for (let round = 0; round < rounds; round++) {
    const running = await start()
    const before = answered().length
    const all = Array.from({ length: customers }, () => customer(running.url))
    while (answered().length === before) await sleep(10) // on a busy machine the first may take its time
    await sleep(50 + random() * 500)
    await kill(running, round % 3 === 2)
    await Promise.all(all)
  }
  const unanswered = asked.filter(one => !one.reference)
  assert.equal(unanswered.length, rounds * customers) // each customer's last

  const { url } = await start()
  const { merchant_key } = shop
  await inTurn(answered(), async ({ request: { invoice_id }, reference }) => {
    const { body } = await checkStatus(url, { merchant_key, invoice_id })
    assert.equal(body.tx_reference, reference)
  })
  const before = await storedReferences()
  assert.ok(unanswered.some(({ request }) => before.has(request.invoice_id))) // else the blows came too early
  await inTurn(unanswered, async one => {
    const { http, body } = await post(url, one.request)
    assert.equal(http, 200)
    one.reference = body.tx_reference
  })
  // What a killed gateway had stored without saying so keeps the reference that it was given.
  for (const { request, reference } of asked)
    assert.ok([undefined, reference].includes(before.get(request.invoice_id)))
  const after = await storedReferences()
  assert.deepEqual(
    asked.map(one => after.get(one.request.invoice_id)),
    asked.map(one => one.reference),
  )
  assert.equal(after.size, asked.length)
}, 180_000)

async function inTurn<T>(all: T[], work: (one: T) => Promise<void>) {
  const left = all.values()
  const worker = async () => {
    for (const one of left) await work(one)
  }
  await Promise.all(Array.from({ length: customers }, worker))
}

// Each invoice and its reference, read past the gateway. No invoice may have two.
async function storedReferences() {
  const embedded = await startEmbedded(dataDir, 'command')
  const rows = await query(embedded.url, 'select invoice_id, tx_reference from payments')
  await embedded.stop()
  const references = new Map(rows.map(row => [row.invoice_id, row.tx_reference]))
  assert.equal(references.size, rows.length)
  return references
}
