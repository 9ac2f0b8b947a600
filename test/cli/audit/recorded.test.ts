import { hostname, userInfo } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StoredEntry } from '../../../src/core/access/audit.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
let reference: string
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Ama Shop')
  const payment = await shop.ask(merchant, { total: '25.00', email: 'kofi@example.com' })
  await shop.try(payment, { ...yes, amount: 2500n })
  await shop.db.rows(sql`update messages set state = 'sent', next_try_at = null`)
  reference = payment.tx_reference
})
afterAll(() => shop.stop())

const newest = () => shop.db.one<StoredEntry>(sql`select * from audit_entries order by entry_id desc limit 1`)

for (const [action, args, after] of [
  ['merchant.add', () => ['merchant', 'add', '--name', 'Kofi'], { name: 'Kofi' }],
  ['merchant.deactivate', () => ['merchant', 'deactivate', merchant.merchant_id], { active: false }],
  ['merchant.activate', () => ['merchant', 'activate', merchant.merchant_id], { active: true }],
  [
    'settings.change',
    () => ['merchant', 'set', merchant.merchant_id, 'expiry_minutes=30'],
    { expiry_minutes: '30' },
  ],
  ['key.rotate', () => ['key', 'rotate', '--merchant', merchant.merchant_id], { mode: 'test' }],
  [
    'ipn_secret.rotate',
    () => ['merchant', 'ipn-secret', 'rotate', '--merchant', merchant.merchant_id],
    { mode: 'test' },
  ],
  [
    'ipn_password.rotate',
    () => ['merchant', 'ipn-password', 'rotate', '--merchant', merchant.merchant_id, '--mode', 'live'],
    { mode: 'live', password: 'new' },
  ],
  [
    'outlet.add',
    () => ['outlet', 'add', '--merchant', merchant.merchant_id, '--code', 'ACC-1', '--name', 'Accra Mall'],
    { name: 'Accra Mall' },
  ],
  ['receipt.send', () => ['message', 'resend', reference, '--by', 'email'], { medium: 'email' }],
  [
    'refund.create',
    () => ['refund', 'create', reference, '--amount', '5.00', '--by', 'Esi'],
    { amount: 'GHS 5.00' },
  ],
  ['support.token', () => ['support', 'token'], null],
  ['support.link', () => ['support', 'link'], null],
] as const)
  test(`the command records ${action}`, async () => {
    const ran = await tollgate({ ...shop.env, TOLLGATE_BASE_URL: 'https://pay.example' }, ...args())
    expect(ran).toMatchObject({ code: 0 })
    const entry = await newest()
    expect(entry).toMatchObject({
      action,
      actor_kind: 'command',
      actor_id: userInfo().username,
      address: hostname(),
      ...(after && { after }),
    })
    for (const secret of ['kofi@example.com', 'whsec_', '0241234567'])
      expect(JSON.stringify(entry)).not.toContain(secret)
  })

test('a refused command records nothing', async () => {
  const before = await newest()
  expect(await tollgate(shop.env, 'merchant', 'set', merchant.merchant_id, 'expiry_minutes=x')).toMatchObject(
    {
      code: 1,
    },
  )
  expect(await newest()).toEqual(before)
})
