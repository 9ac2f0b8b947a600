import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { newMasterKey, tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

const rotate = (...args: string[]) => ['merchant', 'ipn-secret', 'rotate', ...args]

test('an unknown merchant', async () => {
  const { code, stdout, stderr } = await tollgate(shop.env, ...rotate('--merchant', 'nobody'))
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^No merchant has the id nobody/)
})

test('without the master key nothing is sealed', async () => {
  const env = { ...shop.env, TOLLGATE_MASTER_KEY: newMasterKey() }
  const { code, stdout } = await tollgate(env, ...rotate('--merchant', merchant.merchant_id))
  expect([code, stdout]).toEqual([78, ''])
})

test('it is shown once, and merchant show has how many sign and until when', async () => {
  const show = ['merchant', 'show', merchant.merchant_id]
  const before = (await tollgate(shop.env, ...show)).stdout
  expect(before).toMatch(/^Signing secrets of notifications\n {2}test {3}1 live\n {2}live {3}1 live$/m)
  const { code, stdout } = await tollgate(shop.env, ...rotate('--merchant', merchant.merchant_id))
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /has a new signing secret for its test notifications\.\n\n {2}ipn_secret {3}whsec_\S+\n {2}old secret {3}signs too until \d{4}.* UTC\n\nThe secret is shown only now\.\n$/,
  )
  const { data } = await tollgateJson(
    shop.env,
    ...rotate('--merchant', merchant.merchant_id, '--mode', 'live', '--overlap', '0'),
  )
  expect(data).toEqual({
    merchant_id: merchant.merchant_id,
    mode: 'live',
    ipn_secret: expect.stringMatching(/^whsec_/),
    old_secret_valid_until: expect.any(String),
  })
  const [{ stdout: shown }, { data: json }] = await Promise.all([
    tollgate(shop.env, ...show),
    tollgateJson(shop.env, ...show),
  ])
  expect(shown).toMatch(/^ {2}test {3}2 live, the old one until \d{4}-\S+ \S+ UTC\n {2}live {3}1 live$/m)
  expect(json.ipn_secrets).toHaveLength(4)
  expect(Object.keys(json.ipn_secrets[0])).toEqual([
    'secret_id',
    'mode',
    'created_at',
    'expires_at',
    'last_used_at',
  ])
  expect(shown + JSON.stringify(json)).not.toContain('whsec_')
})
