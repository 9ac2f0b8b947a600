import { afterAll, beforeAll, expect, test } from 'vitest'
import { rotateIpnPassword, useMerchantId } from '../../../src/actions/merchants/credentials.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { rewrapKeys } from '../../../src/actions/merchants/rewrapKeys.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { sql } from '../../../src/store/db.ts'
import { findSigners } from '../../../src/store/merchants/signers.ts'
import type { MasterKeys } from '../../../src/store/merchants/vault.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let masterKeys: MasterKeys
beforeAll(async () => {
  shop = await openShop()
  masterKeys = givenMasterKeys([Buffer.from(shop.env.TOLLGATE_MASTER_KEY, 'hex')])
})
afterAll(() => shop.stop())

const choose = (merchant_id: string, ...settings: string[]) =>
  setMerchant(shop.db, merchant_id, settings, masterKeys)
const basic = ['ipn_style=basic', 'ipn_url=https://shop.example/ipn']
const signersOf = (merchant_id: string, keys: MasterKeys = masterKeys) =>
  findSigners(shop.db, keys, [merchant_id], new Date())
const passwordsOf = async (merchant_id: string) =>
  Object.fromEntries((await signersOf(merchant_id)).map(({ mode, password }) => [mode, password]))
const idTwice = (merchant_id: string) => ({ test: merchant_id, live: merchant_id })

const made = { test: expect.stringMatching(/^[\w-]{32}$/), live: expect.stringMatching(/^[\w-]{32}$/) }

test('a password is made for each mode when the style is chosen, and neither is the merchant id', async () => {
  const { merchant_id } = await shop.addMerchant()
  const chosen = await choose(merchant_id, ...basic)
  expect(chosen?.ipn_passwords).toEqual(made)
  expect(chosen?.ipn_passwords?.test).not.toBe(chosen?.ipn_passwords?.live)
  expect(await passwordsOf(merchant_id)).toEqual(chosen?.ipn_passwords)
})

test('they are made when the style is chosen: setting it again keeps them, choosing it anew replaces them', async () => {
  const { merchant_id } = await shop.addMerchant()
  const first = await choose(merchant_id, ...basic)
  for (const settings of [['ipn_style=basic'], ['expiry_minutes=30'], ['ipn_style=post']])
    expect((await choose(merchant_id, ...settings))?.ipn_passwords).toBeUndefined()
  expect(await passwordsOf(merchant_id)).toEqual(first?.ipn_passwords)
  const again = await choose(merchant_id, 'ipn_style=basic')
  expect(again?.ipn_passwords).toEqual(made)
  const all = [first, again].flatMap(one => Object.values(one?.ipn_passwords ?? {}))
  expect(new Set(all).size).toBe(4)
})

test('nothing is made when one of the settings is wrong, or the password could be sent nowhere', async () => {
  const { merchant_id } = await shop.addMerchant()
  for (const settings of [[...basic, 'expiry_minutes=1'], ['ipn_style=basic']]) {
    const refused = await choose(merchant_id, ...settings)
    expect([refused?.faults.length, refused?.ipn_passwords]).toEqual([1, undefined])
  }
  expect(await passwordsOf(merchant_id)).toEqual(idTwice(merchant_id))
})

test('a merchant without a password of its own uses its id', async () => {
  const { merchant_id } = await shop.addMerchant()
  await shop.db.rows(sql`
    update merchants set settings = '{"ipn_style": "basic"}' where merchant_id = ${merchant_id}`)
  expect(await passwordsOf(merchant_id)).toEqual(idTwice(merchant_id))
  expect((await choose(merchant_id, ...basic))?.ipn_passwords).toBeUndefined()
  expect(await passwordsOf(merchant_id)).toEqual(idTwice(merchant_id))
})

const swap = (to: string, from: string) =>
  shop.db.rows(sql`
    update merchants m set sealed_ipn_password = o.sealed_ipn_password,
      sealed_test_ipn_password = o.sealed_test_ipn_password
    from merchants o where m.merchant_id = ${to} and o.merchant_id = ${from}`)

test('the database has it sealed, for this merchant and mode alone, and a new master key opens it', async () => {
  const [ama, kofi] = [await shop.addMerchant(), await shop.addMerchant()]
  const chosen = await choose(ama.merchant_id, ...basic)
  await choose(kofi.merchant_id, ...basic)
  const [row] = await shop.db.rows<{ words: string }>(sql`
    select m::text as words from merchants m where merchant_id = ${ama.merchant_id}`)
  for (const password of Object.values(chosen?.ipn_passwords ?? {})) {
    expect(row?.words).not.toContain(password)
    expect(row?.words).not.toContain(Buffer.from(password).toString('hex'))
  }
  const newer = givenMasterKeys([Buffer.alloc(32, 7), masterKeys.newest()])
  await rewrapKeys(shop.db, newer)
  const opened = await signersOf(ama.merchant_id, givenMasterKeys([Buffer.alloc(32, 7)]))
  for (const { mode, password } of opened) expect(password).toBe(chosen?.ipn_passwords?.[mode])
  await rewrapKeys(shop.db, givenMasterKeys([masterKeys.newest(), Buffer.alloc(32, 7)]))
  await shop.db.rows(sql`
    update merchants set sealed_ipn_password = sealed_test_ipn_password where merchant_id = ${kofi.merchant_id}`)
  expect((await passwordsOf(kofi.merchant_id)).live).toBeUndefined() // the test one does not open as the live one
  await swap(ama.merchant_id, kofi.merchant_id)
  for (const swapped of await signersOf(ama.merchant_id)) {
    expect(swapped.password).toBeUndefined()
    expect(swapped.keys).toHaveLength(1) // signatures are made all the same
  }
})

for (const [mode, other] of [
  ['test', 'live'],
  ['live', 'test'],
] as const)
  test(`the ${mode} one is rotated, may be the merchant id for an old client, and the ${other} one stays`, async () => {
    const { merchant_id } = await shop.addMerchant()
    const chosen = await choose(merchant_id, ...basic)
    const stays = { [other]: chosen?.ipn_passwords?.[other] }
    const rotated = await rotateIpnPassword(shop.db, masterKeys, merchant_id, mode)
    expect(await passwordsOf(merchant_id)).toEqual({ ...stays, [mode]: rotated?.ipn_password })
    const id = { merchant_id, mode, ipn_password: merchant_id }
    expect(await useMerchantId(shop.db, merchant_id, mode)).toEqual(id)
    expect(await passwordsOf(merchant_id)).toEqual({ ...stays, [mode]: merchant_id })
    expect(await rotateIpnPassword(shop.db, masterKeys, 'nobody', mode)).toBeUndefined()
    expect(await useMerchantId(shop.db, 'nobody', mode)).toBeUndefined()
  })
