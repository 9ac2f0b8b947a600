import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

const originsOf = async () =>
  (await tollgateJson(shop.env, 'doctor')).data.checks.find(
    ({ check }: { check: string }) => check === 'origins',
  )

test('without registered origins the output explains the risk, with the command that registers them', async () => {
  const added = await tollgate(shop.env, 'merchant', 'add', '--name', 'Ama Shop')
  const [, id = ''] = /merchant_id {3}(\w{10})/.exec(added.stdout) ?? []
  const command = `tollgate merchant set ${id} allowed_origins=https://shop.example`
  const shown = await tollgate(shop.env, 'merchant', 'show', id)
  for (const { stdout } of [added, shown]) {
    expect(stdout).toContain('No origins are registered: a payment may send the customer to any address.')
    expect(stdout).toContain(command)
  }
  expect(await originsOf()).toEqual({
    check: 'origins',
    state: 'warning',
    fact: `a payment may send the customer to any address: no origins are registered for ${id}`,
    todo: `Register the shop's own: ${command}`,
  })
  const [program, ...args] = command.split(' ')
  expect([program, (await tollgate(shop.env, ...args)).code]).toEqual(['tollgate', 0]) // as it stands there
  expect((await tollgate(shop.env, 'merchant', 'show', id)).stdout).not.toContain('No origins are registered')
  expect(await originsOf()).toMatchObject({ state: 'ok' })
})

test('doctor names a few of many merchants, and no deactivated ones', async () => {
  const ids: string[] = []
  for (let one = 0; one < 7; one++) ids.push((await shop.addMerchant()).merchant_id)
  await tollgate(shop.env, 'merchant', 'deactivate', ids[0] ?? '')
  const { fact } = await originsOf()
  expect(fact).toMatch(/for (\w{10}, ){4}\w{10} and 1 more$/)
  expect(fact).not.toContain(ids[0])
})
