import { randomBytes } from 'node:crypto'
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

// An owner whose mails are only those of one test.
async function addOwner() {
  const user_id = `u_${randomBytes(6).toString('hex')}`
  const email = `${user_id}@example.com`
  await shop.db.rows(sql`
    insert into users (user_id, email, name, lang, created_at) values (${user_id}, ${email}, 'Ama', 'en', now())`)
  await shop.db.rows(sql`
    insert into memberships (merchant_id, user_id, role, created_at)
    values (${merchant.merchant_id}, ${user_id}, 'owner', now())`)
  const mails = () => shop.db.rows(sql`select kind, details from user_mails where email = ${email}`)
  return { mails }
}

for (const [change, args] of [
  ['keys', ['key', 'rotate', '--merchant']],
  ['keys', ['merchant', 'ipn-secret', 'rotate', '--merchant']],
  ['keys', ['merchant', 'ipn-password', 'rotate', '--mode', 'test', '--merchant']],
  ['ipn_url', ['merchant', 'set', 'ID', 'ipn_url=https://shop.example/new']],
  ['payout', ['merchant', 'set', 'ID', 'providers=sandbox']],
] as const)
  test(`tollgate ${args.slice(0, 3).join(' ')} sends the owner a mail`, async () => {
    const { merchant_id } = merchant
    const owner = await addOwner()
    const words: string[] = args.map(word => (word === 'ID' ? merchant_id : word))
    const ran = await tollgate(shop.env, ...words, ...(words.includes(merchant_id) ? [] : [merchant_id]))
    expect(ran).toMatchObject({ code: 0 })
    expect(await owner.mails()).toMatchObject([
      { kind: 'alert', details: { change, by: userInfo().username } },
    ])
  })

test('each change of a merchant’s own provider account sends the owner a mail, another name sends none', async () => {
  const owner = await addOwner()
  const run = async (...args: string[]) => {
    const before = (await owner.mails()).length
    const ran = await tollgate(shop.env, 'provider', ...args, '--json')
    expect(ran).toMatchObject({ code: 0 })
    const mails = (await owner.mails()).slice(before)
    return { account: (JSON.parse(ran.stdout) as { account: string }).account, mails }
  }
  const told = [{ kind: 'alert', details: { change: 'payout', by: userInfo().username } }]
  const settings = ['secret_key=sk_test_0123456789abcdef0123456789abcdef01234567', '--no-test']
  const operators = await run('add', 'paystack', '--mode', 'test', ...settings)
  expect(operators.mails).toEqual([])
  const ownArgs = ['--mode', 'test', '--merchant', merchant.merchant_id]
  const { account, mails } = await run('add', 'paystack', ...ownArgs, ...settings)
  expect(mails).toMatchObject(told)
  const other = 'secret_key=sk_test_9876456789abcdef0123456789abcdef01234567'
  expect((await run('set', account, other, '--other-business', '--no-test')).mails).toMatchObject(told)
  expect((await run('disable', account)).mails).toMatchObject(told)
  expect((await run('enable', account)).mails).toMatchObject(told)
  expect((await run('set', account, '--label', 'Head office')).mails).toEqual([])
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
