import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
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

const set = (...args: string[]) => ['merchant', 'set', merchant.merchant_id, ...args]
const rotate = (...args: string[]) => ['merchant', 'ipn-password', 'rotate', '--merchant', ...args]
const show = () => ['merchant', 'show', merchant.merchant_id]
const basic = ['ipn_style=basic', 'ipn_url=https://shop.example/ipn']
const checks = async (name: string) =>
  (await tollgateJson(shop.env, 'doctor')).data.checks.filter(
    ({ check }: { check: string }) => check === name,
  )

test('without the master key no style that needs a password is chosen', async () => {
  const env = { ...shop.env, TOLLGATE_MASTER_KEY: newMasterKey() }
  expect((await tollgate(env, ...set(...basic))).code).toBe(78)
  expect((await tollgateJson(shop.env, ...show())).data.settings.ipn_style).toBe('post')
  expect((await tollgate(env, ...set('expiry_minutes=30'))).code).toBe(0) // others need none
})

test('style basic is refused without an address of the merchant, and the fault names the setting', async () => {
  const { code, stderr } = await tollgate(shop.env, ...set('ipn_style=basic'))
  expect(code).toBe(1)
  expect(stderr).toMatch(/ipn_style: basic sends a password.*\n?.*ipn_url=.* or\s+allowed_origins=/)
  expect((await tollgateJson(shop.env, ...show())).data.settings.ipn_style).toBe('post')
})

test('both are shown when the style is chosen, one when it is rotated, and never again', async () => {
  const chosen = await tollgate(shop.env, ...set(...basic))
  const [, first = '', second = ''] =
    /^ {2}test ipn_password {3}([\w-]{32})\n {2}live ipn_password {3}([\w-]{32})$/m.exec(chosen.stdout) ?? []
  expect([first, second]).not.toContain('')
  expect(chosen.stdout).toMatch(/The passwords are shown only now\.\n$/)
  const again = await tollgate(shop.env, ...set('ipn_style=basic'))
  expect(again.stdout).not.toContain('ipn_password')
  const { data } = await tollgateJson(shop.env, ...rotate(merchant.merchant_id, '--mode', 'live'))
  expect(data).toEqual({
    merchant_id: merchant.merchant_id,
    mode: 'live',
    ipn_password: expect.stringMatching(/^[\w-]{32}$/),
  })
  const shown = await tollgate(shop.env, ...show())
  const json = await tollgateJson(shop.env, ...show())
  expect(shown.stdout).toMatch(/^ {2}test password {3}its own\n {2}live password {3}its own$/m)
  expect(json.data.ipn_passwords).toEqual({ test: 'own', live: 'own' })
  for (const secret of [first, second, data.ipn_password])
    expect(shown.stdout + JSON.stringify(json.data)).not.toContain(secret)
  expect(await checks('passwords')).toEqual([])
})

test('rotating needs a mode', async () => {
  const { code, stderr } = await tollgate(shop.env, ...rotate(merchant.merchant_id))
  expect(code).not.toBe(0)
  expect(stderr).toContain('--mode')
})

test('the last address of the merchant stays while the style is basic', async () => {
  const { code, stderr } = await tollgate(shop.env, ...set('ipn_url='))
  expect([code, stderr]).toEqual([1, expect.stringContaining('ipn_style: basic sends a password')])
  expect((await tollgate(shop.env, ...set('ipn_url=', 'allowed_origins=https://shop.example'))).code).toBe(0)
  expect((await tollgate(shop.env, ...set('allowed_origins='))).code).toBe(1)
})

test('an old client may use the merchant id as the password, and merchant show has the command that changes it', async () => {
  const { merchant_id } = merchant
  const { stdout } = await tollgate(shop.env, ...rotate(merchant_id, '--mode', 'live', '--merchant-id'))
  expect(stdout).toContain(`ipn_password   ${merchant_id}\n`)
  const shown = await tollgate(shop.env, ...show())
  const command = `tollgate merchant ipn-password rotate --merchant ${merchant_id} --mode live`
  expect(shown.stdout).toMatch(/^ {2}test password {3}its own$/m)
  expect(shown.stdout).toContain(`the merchant_id, which is not secret: ${command} makes one`)
  expect(await checks('passwords')).toEqual([
    {
      check: 'passwords',
      state: 'warning',
      fact: `the password of notifications in style basic is the merchant_id, which is not secret, for ${merchant_id}`,
      todo: `Make one and give it to the shop: ${command}`,
    },
  ])
})

test('doctor fails for a live merchant whose password could be sent nowhere', async () => {
  const { merchant_id } = merchant
  await shop.db.rows(sql`
    update merchants set settings = '{"ipn_style": "basic"}', sealed_test_ipn_password = 'x',
      sealed_ipn_password = 'x' where merchant_id = ${merchant_id}`)
  const { code } = await tollgate(shop.env, 'doctor')
  expect(code).toBe(1)
  expect(await checks('passwords')).toEqual([
    {
      check: 'passwords',
      state: 'failed',
      fact: `ipn_style is basic, but neither ipn_url nor allowed_origins is set, so the password may not be sent, for ${merchant_id}`,
      todo: `Notifications are sent without it. Set the shop's own address: tollgate merchant set ${merchant_id} ipn_url=https://shop.example/ipn`,
    },
  ])
})

test('doctor recommends form_ipn_url=registered to a live merchant whose customers can add any ipn_url', async () => {
  const { merchant_id } = merchant
  await tollgate(shop.env, ...set('ipn_style=', 'ipn_url=', 'allowed_origins='))
  const [open] = await checks('ipn_url')
  expect(open).toMatchObject({
    state: 'warning',
    todo: `Accept only the shop's own: tollgate merchant set ${merchant_id} ipn_url=https://shop.example/ipn form_ipn_url=registered`,
  })
  await tollgate(shop.env, ...set('ipn_url=https://shop.example/ipn'))
  expect((await checks('ipn_url'))[0].todo).toContain(`set ${merchant_id} form_ipn_url=registered`)
  await tollgate(shop.env, ...set('form_ipn_url=registered'))
  expect(await checks('ipn_url')).toEqual([])
  await tollgate(shop.env, ...set('form_ipn_url=', 'allowed_origins=https://shop.example'))
  expect(await checks('ipn_url')).toEqual([])
  await tollgate(shop.env, ...set('allowed_origins=', 'ipn_style=basic')) // refuses others by itself
  expect(await checks('ipn_url')).toEqual([])
})

test('an unknown merchant', async () => {
  for (const more of [[], ['--merchant-id']]) {
    const { code, stderr } = await tollgate(shop.env, ...rotate('nobody', '--mode', 'test', ...more))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^No merchant has the id nobody/)
  }
})
