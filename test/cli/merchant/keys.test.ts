import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../../support/database/database.ts'
import {
  type Credentials,
  type GatewayProcess,
  spawnGateway,
  type TestMerchant,
} from '../../support/gateway/gateway.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'
import { isRoot } from '../../support/processes/otherUsers.ts'
import { type Env, newMasterKey, temporaryFolder, tollgate, tollgateJson } from '../tollgate.ts'

// A gateway with an embedded database and its master key in a file, and a merchant besides the demo merchant.
const dataDir = temporaryFolder()
const keyFile = join(dataDir, 'master.key')
let gateway: GatewayProcess
const env: Env = { TOLLGATE_DATA_DIR: dataDir }
let shop: TestMerchant

beforeAll(async () => {
  gateway = await spawnGateway(env)
  shop = (await tollgateJson(env, 'merchant', 'add', '--name', 'Ama Shop')).data
})
afterAll(async () => {
  await gateway?.kill('SIGTERM')
})

const rotate = async (...args: string[]) =>
  (await tollgateJson(env, 'key', 'rotate', '--merchant', shop.merchant_id, ...args)).data
const pays = async (keys: Pick<Credentials, 'merchant_key' | 'secret_key'>) =>
  (await post(gateway.url, signedRequest(keys))).http

test('the old key works until the overlap ends', async () => {
  const began = Date.now()
  const next = await rotate('--overlap', '4s')
  expect(next).toEqual({
    merchant_id: shop.merchant_id,
    mode: 'test',
    merchant_key: expect.stringMatching(/^tk_/),
    secret_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    old_keys_valid_until: expect.any(String),
  })
  const end = Date.parse(next.old_keys_valid_until)
  expect(end).toBeGreaterThan(began + 3999)
  expect(await pays(next)).toBe(200)
  while (Date.now() < end - 1500) {
    expect(await pays(shop.test)).toBe(200)
    await sleep(50)
  }
  await expect.poll(() => pays(shop.test), { timeout: 10_000, interval: 50 }).toBe(401)
  expect(await pays(next)).toBe(200)
  shop.test = next
})

test('with no overlap the old key stops within a second', async () => {
  expect(await pays(shop.live)).toBe(200)
  const next = await rotate('--mode', 'live', '--overlap', '0')
  await sleep(1000)
  expect(await pays(shop.live)).toBe(401)
  expect(await pays(next)).toBe(200)
  expect(await pays(shop.test)).toBe(200) // the other mode has its own keys
  shop.live = next
})

test('the default overlap is a day, and an earlier end stays', async () => {
  const { stdout } = await tollgate(env, 'key', 'rotate', '--merchant', shop.merchant_id, '--mode', 'live')
  expect(stdout).toMatch(
    /has a new live key\.\n\n {2}merchant_key {3}lk_\w+\n {2}secret_key {5}[0-9a-f]{64}\n/,
  )
  const { data } = await tollgateJson(env, 'merchant', 'show', shop.merchant_id)
  const [first, second, third] = data.keys.filter((key: { mode: string }) => key.mode === 'live')
  expect(Date.parse(first.expires_at)).toBeLessThan(Date.now())
  expect(Date.parse(second.expires_at) - Date.parse(third.created_at)).toBe(24 * 3_600_000)
  expect(third.expires_at).toBeNull()
})

test('a new master key in the file reaches a running gateway, and the old one stays until it is forgotten', async () => {
  const [old] = readFileSync(keyFile, 'utf8').split('\n')
  const rotated = await tollgateJson(env, 'master-key', 'rotate')
  expect(rotated).toMatchObject({ code: 0, data: { merchants: 2 } })
  const [newest, kept] = readFileSync(keyFile, 'utf8').split('\n')
  expect(newest).not.toBe(old)
  expect(kept).toBe(old)
  expect(await pays(shop.test)).toBe(200)

  const { code, stdout } = await tollgate(env, 'master-key', 'rotate', '--forget-old')
  expect(code).toBe(0)
  expect(stdout).toMatch(/encrypted with it\. The old keys are forgotten\.\n$/)
  expect(stdout).not.toContain(readFileSync(keyFile, 'utf8').trim())
  expect(readFileSync(keyFile, 'utf8').trim()).toMatch(/^[0-9a-f]{64}$/)
  expect(statSync(keyFile).mode & 0o777).toBe(isRoot ? 0o640 : 0o600) // root's gateway reads it by its group
  await expect.poll(() => pays(shop.test)).toBe(200)
})

test('a key file is not rotated for a database that other gateways may use', async () => {
  const shared = { ...env, DATABASE_URL: (await freshDatabase()).url }
  const before = readFileSync(keyFile, 'utf8')
  const { code, stderr } = await tollgate(shared, 'master-key', 'rotate')
  expect(code).toBe(1)
  expect(stderr).toContain('TOLLGATE_MASTER_KEY=NEW,OLD')
  expect(readFileSync(keyFile, 'utf8')).toBe(before)
})

const withKeys = (keys: string) => ({ ...env, TOLLGATE_MASTER_KEY: keys })

test('with the key in the environment, the first of several becomes the one in use', async () => {
  const [old, next] = [readFileSync(keyFile, 'utf8').trim(), newMasterKey()]
  const single = await tollgate(withKeys(old), 'master-key', 'rotate')
  expect([single.code, single.stdout]).toEqual([1, ''])
  expect(single.stderr).toMatch(/^TOLLGATE_MASTER_KEY has one key: set it to NEW,OLD [^.]*\.\n$/)
  const early = await tollgate(withKeys(`${next},${old}`), 'master-key', 'rotate')
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('do not have the new key')])
  writeFileSync(keyFile, `${next}\n${old}\n`) // the running gateway reads it before its next heartbeat
  await expect
    .poll(() => tollgateJson(withKeys(`${next},${old}`), 'master-key', 'rotate'), { timeout: 30_000 })
    .toMatchObject({ data: { merchants: 2 } })
  expect(await tollgateJson(withKeys(`${next},${old}`), 'master-key', 'rotate')).toMatchObject({
    data: { merchants: 0 },
  })
  expect((await tollgateJson(withKeys(next), 'key', 'rotate', '--merchant', shop.merchant_id)).code).toBe(0)
})

test('without the master key of the gateway nothing is sealed or opened, and it ends with 78', async () => {
  const other = { ...env, TOLLGATE_MASTER_KEY: newMasterKey() }
  for (const args of [
    ['merchant', 'add', '--name', 'Stray'],
    ['key', 'rotate', '--merchant', shop.merchant_id],
  ]) {
    const { code, stdout, stderr } = await tollgate({ ...other, LOG_LEVEL: 'silent', PORT: '0' }, ...args)
    expect([code, stdout]).toEqual([78, ''])
    expect(stderr).toMatch(
      /^The secrets in this database are sealed with master key [0-9a-f]{16}, which this /,
    )
  }
  const { data } = await tollgateJson(env, 'merchant', 'list')
  expect(data.merchants).toHaveLength(2)
})
