import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestMerchant } from '../../support/gateway.ts'
import { openShop, type TestShop } from '../../support/shop.ts'
import { newMasterKey, tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

const set = (...words: string[]) => ['merchant', 'set', merchant.merchant_id, ...words]
const rotate = (...words: string[]) => ['merchant', 'ipn-password', 'rotate', '--merchant', ...words]
const show = () => ['merchant', 'show', merchant.merchant_id]

test('without the master key no style that needs a password is chosen', async () => {
  const env = { ...shop.env, TOLLGATE_MASTER_KEY: newMasterKey() }
  expect((await tollgate(env, ...set('ipn_style=basic'))).code).toBe(78)
  expect((await tollgateJson(shop.env, ...show())).data.settings.ipn_style).toBe('post')
  expect((await tollgate(env, ...set('expiry_minutes=30'))).code).toBe(0) // others need none
})

test('it is shown when the style is chosen and when it is rotated, and never again', async () => {
  const chosen = await tollgate(shop.env, ...set('ipn_style=basic'))
  const [, password = ''] = /^ {2}ipn_password {3}([\w-]{32})$/m.exec(chosen.stdout) ?? []
  expect(password).not.toBe('')
  expect(chosen.stdout).toMatch(/The password is shown this once\.\n$/)
  const again = await tollgate(shop.env, ...set('ipn_style=basic'))
  expect(again.stdout).not.toContain('ipn_password')
  const { data } = await tollgateJson(shop.env, ...rotate(merchant.merchant_id))
  expect(data).toEqual({
    merchant_id: merchant.merchant_id,
    ipn_password: expect.stringMatching(/^[\w-]{32}$/),
  })
  const shown = await tollgate(shop.env, ...show())
  const json = await tollgateJson(shop.env, ...show())
  expect(shown.stdout).toMatch(/^ {2}password {3}its own$/m)
  expect(json.data.ipn_password).toBe('own')
  for (const secret of [password, data.ipn_password])
    expect(shown.stdout + JSON.stringify(json.data)).not.toContain(secret)
})

test('an old client has the merchant id for a password, and merchant show says how to change it', async () => {
  const { stdout } = await tollgate(shop.env, ...rotate(merchant.merchant_id, '--merchant-id'))
  expect(stdout).toContain(`ipn_password   ${merchant.merchant_id}\n`)
  const shown = await tollgate(shop.env, ...show())
  expect(shown.stdout).toContain(
    `the merchant_id, which is no secret: tollgate merchant ipn-password rotate --merchant ${merchant.merchant_id} makes one`,
  )
  const doctor = await tollgateJson(shop.env, 'doctor')
  expect(doctor.data.checks).toContainEqual({
    check: 'passwords',
    state: 'warning',
    fact: `the password of notifications in style basic is the merchant_id, which is no secret, for ${merchant.merchant_id}`,
    todo: `Make one and give it to the shop: tollgate merchant ipn-password rotate --merchant ${merchant.merchant_id}`,
  })
})

test('nobody has this id', async () => {
  for (const more of [[], ['--merchant-id']]) {
    const { code, stderr } = await tollgate(shop.env, ...rotate('nobody', ...more))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^No merchant has the id nobody/)
  }
})
