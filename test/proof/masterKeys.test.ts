import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { installationSecrets, rewrapInstallation } from '../../src/actions/installation/secrets.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { rewrapKeys } from '../../src/actions/merchants/rewrapKeys.ts'
import { rewrapAccounts } from '../../src/actions/providers/rewrapAccounts.ts'
import {
  addMasterKey,
  forgetOldMasterKeys,
  givenMasterKeys,
  masterKeysInFile,
} from '../../src/start/masterKeys.ts'
import { sql } from '../../src/store/db.ts'
import { findCallers } from '../../src/store/merchants/callers.ts'
import type { MasterKeys } from '../../src/store/merchants/vault.ts'
import { addStoredAccount, changingAccounts, findAccount } from '../../src/store/providers/accounts.ts'
import { openSettings, sealSettings } from '../../src/store/providers/sealedSettings.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { type Answer, checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'

type Merchant = { merchant_id: string; test: Credentials; live: Credentials }

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-sealed-'))
let gateway: TestGateway

// The master key comes from the file, which can change while the gateway runs.
beforeAll(async () => {
  masterKeysInFile(dataDir).newest() // makes it, as nobody does for a database of the operator's own
  gateway = await testGateway({ TOLLGATE_MASTER_KEY: '', TOLLGATE_DATA_DIR: dataDir })
})
afterAll(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function addMerchant(): Promise<Merchant> {
  const { db } = gateway
  const added = await onboard(db, masterKeysInFile(dataDir), 'Ama Shop', ['test', 'live'], new Date())
  const { merchant_id, test: testKeys, live } = added
  await setMerchant(db, merchant_id, ['rate_limit=0'])
  assert.ok(testKeys && live)
  return { merchant_id, test: testKeys, live }
}

async function opened(keys: MasterKeys, { merchant_key }: { merchant_key: string }) {
  const [caller] = await findCallers(gateway.db, keys, [merchant_key])
  return caller?.sealed === undefined ? caller?.secrets[0]?.toString() : 'does not open'
}

type Pair = [one: Merchant, other: Merchant]
const ids = (pair: Pair) => pair.map(merchant => merchant.merchant_id)

const swapSecrets = (one: string, other: string) => sql`
  update merchant_keys k set sealed_secret = o.sealed_secret from merchant_keys o
  where (k.merchant_key, o.merchant_key) in ((${one}, ${other}), (${other}, ${one}))`

const swapDataKeys = (pair: Pair) => sql`
  update merchants m set wrapped_key = o.wrapped_key from merchants o
  where m.merchant_id <> o.merchant_id and array[m.merchant_id, o.merchant_id] <@ ${ids(pair)}::text[]`

// What somebody who can write to the database would try, to sign with a secret that he knows.
for (const [what, ...statements] of [
  [
    'the secrets of two merchants',
    ([a, b]: Pair) => swapSecrets(a.test.merchant_key, b.test.merchant_key),
    ([a, b]: Pair) => swapSecrets(a.live.merchant_key, b.live.merchant_key),
  ],
  [
    'the secrets of test and live',
    ([a]: Pair) => swapSecrets(a.test.merchant_key, a.live.merchant_key),
    ([, b]: Pair) => swapSecrets(b.test.merchant_key, b.live.merchant_key),
  ],
  ['the data keys of two merchants', swapDataKeys],
  [
    'the data keys and the secrets of two merchants',
    swapDataKeys,
    ([a, b]: Pair) => swapSecrets(a.test.merchant_key, b.test.merchant_key),
    ([a, b]: Pair) => swapSecrets(a.live.merchant_key, b.live.merchant_key),
  ],
] as const) {
  test(`swapped, ${what} do not open; the requests are refused and nothing leaks`, async () => {
    const pair: Pair = [await addMerchant(), await addMerchant()]
    const bystander = await addMerchant()
    const keys = pair.flatMap(merchant => [merchant.test, merchant.live])
    const secrets = keys.map(one => one.secret_key)
    const inFile = masterKeysInFile(dataDir)
    assert.deepEqual(await Promise.all(keys.map(one => opened(inFile, one))), secrets)
    for (const statement of statements) await gateway.db.rows(statement(pair))
    assert.deepEqual([...new Set(await Promise.all(keys.map(one => opened(inFile, one))))], ['does not open'])

    const requests = keys.flatMap(({ merchant_key }) =>
      secrets.map(secret_key => signedRequest({ merchant_key, secret_key })),
    )
    const [neighbour, ...answers] = await Promise.all(
      [signedRequest(bystander.live), ...requests].map(one => post(gateway.url, one)),
    )
    assert.equal(neighbour?.http, 200)
    assert.ok(answers.every(({ http, body }) => http === 503 && body.error.code === 'GW-050'))
    const said = [...answers.map(answer => answer.text), ...gateway.logs].join('\n')
    assert.ok(!secrets.some(secret => said.includes(secret)))
    const stored = sql`select 1 from payments where merchant_id = any(${ids(pair)})`
    assert.deepEqual(await gateway.db.rows(stored), [])

    for (const statement of statements) await gateway.db.rows(statement(pair)) // and back
    assert.deepEqual(await Promise.all(keys.map(one => opened(inFile, one))), secrets)
  })
}

async function addAccount(account: string) {
  const settings = { url: 'http://127.0.0.1:1' }
  const bound = { account, provider: 'sandbox', mode: 'test' as const, merchant_id: null, settings }
  const sealed = sealSettings(masterKeysInFile(dataDir), bound, { key: 'of the account' })
  const row = { ...bound, ...sealed, label: null, created_at: new Date() }
  await changingAccounts(gateway.db, tx => addStoredAccount(tx, row))
}

const faultsLogged = () => gateway.logs.filter(line => line.includes('an account cannot be opened'))

test('an account follows the master key while gateways have it open, and old keys do not open it', async () => {
  await addAccount('sandbox-4f7k2q')
  const old = newestInFile()
  addMasterKey(dataDir)
  const keys = masterKeysInFile(dataDir)
  assert.deepEqual(await rewrapAccounts(gateway.db, keys, new Date()), { changed: 1, failed: [] })
  await rewrapKeys(gateway.db, keys)
  await rewrapInstallation(gateway.db, keys)
  forgetOldMasterKeys(dataDir)
  const row = await findAccount(gateway.db, 'sandbox-4f7k2q')
  assert.ok(row)
  assert.deepEqual(openSettings(masterKeysInFile(dataDir), row), { key: 'of the account' })
  assert.throws(() => openSettings(givenMasterKeys([old]), row))

  // A row that was copied is told, and stops nobody: the gateway has looked at it when it has told.
  const copied = sql`
    insert into provider_accounts select 'sandbox-000000', provider, mode, merchant_id, label, settings, sealed_settings,
      wrapped_key, master_key_id, disabled_at, created_at, updated_at, version + 1 from provider_accounts`
  await gateway.db.rows(copied)
  while (faultsLogged().length === 0) await sleep(20)
  assert.ok(faultsLogged().every(line => line.includes('sandbox-000000') && !line.includes('4f7k2q')))
})

test('the master key is changed five times under load: no request fails, and old keys open nothing', async () => {
  const shop = await addMerchant()
  const { merchant_key } = shop.live
  const over = new AbortController()
  const answers: Answer[] = []
  const customers = Array.from({ length: 16 }, async () => {
    while (!over.signal.aborted) {
      const created = await post(gateway.url, signedRequest(shop.live))
      const { invoice_id } = created.body
      answers.push(created, await checkStatus(gateway.url, { merchant_key, invoice_id }))
    }
  })
  const { supportToken } = await installationSecrets(gateway.db, masterKeysInFile(dataDir), new Date())
  const link = new URL(await gateway.supportLink())
  const entered = await send(gateway.url + link.pathname + link.search)
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const operator = async () => {
    while (!over.signal.aborted) answers.push(await send(`${gateway.url}/support`, { headers: { cookie } }))
  }
  customers.push(operator())
  const old: Buffer[] = []
  try {
    for (let round = 0; round < 5; round++) {
      const before = answers.length
      old.unshift(newestInFile())
      addMasterKey(dataDir)
      const newer = masterKeysInFile(dataDir)
      assert.ok((await rewrapKeys(gateway.db, newer)).changed > 0)
      assert.deepEqual(await rewrapInstallation(gateway.db, newer), { changed: 1, failed: [] })
      forgetOldMasterKeys(dataDir)
      while (answers.length < before + 200) await sleep(10)
    }
  } finally {
    over.abort()
    await Promise.all(customers)
  }
  assert.deepEqual([...new Set(answers.map(answer => answer.http))], [200])
  assert.equal(await opened(givenMasterKeys(old), shop.live), 'does not open')
  assert.equal(await opened(givenMasterKeys([newestInFile()]), shop.live), shop.live.secret_key)
  const openedWith = (keys: Buffer[]) => installationSecrets(gateway.db, givenMasterKeys(keys), new Date())
  await assert.rejects(openedWith(old))
  assert.equal((await openedWith([newestInFile()])).supportToken, supportToken)
})

const newestInFile = () => masterKeysInFile(dataDir).newest()
