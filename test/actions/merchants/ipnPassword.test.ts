import { afterAll, beforeAll, expect, test } from 'vitest'
import { rotateIpnPassword, useMerchantId } from '../../../src/actions/merchants/ipnPassword.ts'
import { rewrapKeys } from '../../../src/actions/merchants/rewrapKeys.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { sql } from '../../../src/store/db.ts'
import { findSigners } from '../../../src/store/merchants/signers.ts'
import type { MasterKeys } from '../../../src/store/merchants/vault.ts'
import { openShop, type TestShop } from '../../support/shop.ts'

let shop: TestShop
let masterKeys: MasterKeys
beforeAll(async () => {
  shop = await openShop()
  masterKeys = givenMasterKeys([Buffer.from(shop.env.TOLLGATE_MASTER_KEY, 'hex')])
})
afterAll(() => shop.stop())

const choose = (merchant_id: string, ...settings: string[]) =>
  setMerchant(shop.db, merchant_id, settings, masterKeys)
const signersOf = (merchant_id: string, keys: MasterKeys = masterKeys) =>
  findSigners(shop.db, keys, [merchant_id], new Date())
const passwordsOf = async (merchant_id: string) =>
  (await signersOf(merchant_id)).map(({ password }) => password)

test('a password is made when the style is chosen, and is not the merchant id', async () => {
  const { merchant_id } = await shop.addMerchant()
  const chosen = await choose(merchant_id, 'ipn_style=basic')
  expect(chosen?.ipn_password).toMatch(/^[\w-]{32}$/)
  expect(await passwordsOf(merchant_id)).toEqual([chosen?.ipn_password, chosen?.ipn_password])
})

test('it is made once per choice: who has the style keeps it, who chooses it anew gets another', async () => {
  const { merchant_id } = await shop.addMerchant()
  const first = await choose(merchant_id, 'ipn_style=basic')
  for (const settings of [['ipn_style=basic'], ['expiry_minutes=30'], ['ipn_style=post']])
    expect((await choose(merchant_id, ...settings))?.ipn_password).toBeUndefined()
  expect(await passwordsOf(merchant_id)).toEqual([first?.ipn_password, first?.ipn_password])
  const again = await choose(merchant_id, 'ipn_style=basic')
  expect(again?.ipn_password).toMatch(/^[\w-]{32}$/)
  expect(again?.ipn_password).not.toBe(first?.ipn_password)
})

test('nothing is made when one of the settings is wrong', async () => {
  const { merchant_id } = await shop.addMerchant()
  const refused = await choose(merchant_id, 'ipn_style=basic', 'expiry_minutes=1')
  expect([refused?.faults.length, refused?.ipn_password]).toEqual([1, undefined])
  expect(await passwordsOf(merchant_id)).toEqual([merchant_id, merchant_id])
})

test('a merchant that had the style before there were passwords goes on with its id', async () => {
  const { merchant_id } = await shop.addMerchant()
  await shop.db.rows(sql`
    update merchants set settings = '{"ipn_style": "basic"}' where merchant_id = ${merchant_id}`)
  expect(await passwordsOf(merchant_id)).toEqual([merchant_id, merchant_id])
  expect((await choose(merchant_id, 'ipn_style=basic'))?.ipn_password).toBeUndefined()
  expect(await passwordsOf(merchant_id)).toEqual([merchant_id, merchant_id])
})

test('the database has it sealed, for this merchant alone, and a new master key opens it', async () => {
  const [ama, kofi] = [await shop.addMerchant(), await shop.addMerchant()]
  const chosen = await choose(ama.merchant_id, 'ipn_style=basic')
  await choose(kofi.merchant_id, 'ipn_style=basic')
  const [row] = await shop.db.rows<{ words: string }>(sql`
    select m::text as words from merchants m where merchant_id = ${ama.merchant_id}`)
  expect(row?.words).not.toContain(chosen?.ipn_password)
  expect(row?.words).not.toContain(Buffer.from(chosen?.ipn_password ?? '').toString('hex'))
  const newer = givenMasterKeys([Buffer.alloc(32, 7), masterKeys.newest()])
  await rewrapKeys(shop.db, newer)
  const [signer] = await signersOf(ama.merchant_id, givenMasterKeys([Buffer.alloc(32, 7)]))
  expect(signer?.password).toBe(chosen?.ipn_password)
  await rewrapKeys(shop.db, givenMasterKeys([masterKeys.newest(), Buffer.alloc(32, 7)]))
  await shop.db.rows(sql`
    update merchants m set sealed_ipn_password = o.sealed_ipn_password from merchants o
    where m.merchant_id = ${ama.merchant_id} and o.merchant_id = ${kofi.merchant_id}`)
  const [swapped] = await signersOf(ama.merchant_id)
  expect(swapped?.password).toBeUndefined()
  expect(swapped?.keys).toHaveLength(1) // signatures are made all the same
})

test('it is rotated, and may be the merchant id for an old client', async () => {
  const { merchant_id } = await shop.addMerchant()
  await choose(merchant_id, 'ipn_style=basic')
  const rotated = await rotateIpnPassword(shop.db, masterKeys, merchant_id)
  expect(await passwordsOf(merchant_id)).toEqual([rotated?.ipn_password, rotated?.ipn_password])
  expect(await useMerchantId(shop.db, merchant_id)).toEqual({ merchant_id, ipn_password: merchant_id })
  expect(await passwordsOf(merchant_id)).toEqual([merchant_id, merchant_id])
  expect(await rotateIpnPassword(shop.db, masterKeys, 'nobody')).toBeUndefined()
  expect(await useMerchantId(shop.db, 'nobody')).toBeUndefined()
})
