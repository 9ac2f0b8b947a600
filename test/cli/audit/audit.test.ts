import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealAuditLog } from '../../../src/actions/access/auditSeal.ts'
import { sql } from '../../../src/store/db.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate } from '../tollgate.ts'

let shop: TestShop
let merchant_id: string
beforeAll(async () => {
  shop = await openShop()
  merchant_id = (await shop.addMerchant('Ama Shop')).merchant_id
  for (const minutes of ['30', '40'])
    await tollgate(shop.env, 'merchant', 'set', merchant_id, `expiry_minutes=${minutes}`)
})
afterAll(() => shop.stop())

test('audit list shows the entries that fit, newest first', async () => {
  const ran = await tollgate(
    shop.env,
    'audit',
    'list',
    '--merchant',
    merchant_id,
    '--action',
    'settings.change',
  )
  expect(ran.code).toBe(0)
  expect(ran.stdout.match(/changed the settings of Ama Shop/g)).toHaveLength(2)
  const json = await tollgate(
    shop.env,
    'audit',
    'list',
    '--action',
    'settings.change',
    '--limit',
    '1',
    '--json',
  )
  const { entries } = JSON.parse(json.stdout) as { entries: { after: unknown }[] }
  expect(entries.map(({ after }) => after)).toEqual([{ expiry_minutes: '40' }])
  const none = await tollgate(shop.env, 'audit', 'list', '--to', '2020-01-01')
  expect(none.stdout).toContain('No entry fits.')
})

test('audit export prints CSV, and with --json an object a line', async () => {
  const csv = await tollgate(shop.env, 'audit', 'export', '--merchant', merchant_id)
  expect(csv.stdout.split('\r\n')[0]).toMatch(/^entry_id,at,actor_kind/)
  expect(csv.stdout).toContain('"{""expiry_minutes"":""40""}"')
  const json = await tollgate(shop.env, 'audit', 'export', '--action', 'settings.change', '--json')
  expect(
    json.stdout
      .trimEnd()
      .split('\n')
      .map(line => (JSON.parse(line) as { action: string }).action),
  ).toEqual(['settings.change', 'settings.change'])
})

test('audit verify fails if an entry was changed', async () => {
  const unsealed = await tollgate(shop.env, 'audit', 'verify', '--head')
  expect(unsealed.stdout).toContain('Nothing is sealed yet.')
  await sealAuditLog(shop.db, new Date(Date.now() + 3 * 3_600_000))
  const head = (await tollgate(shop.env, 'audit', 'verify', '--head')).stdout.split(' ')[0] ?? ''
  const intact = await tollgate(shop.env, 'audit', 'verify', '--expect', head)
  expect([intact.code, intact.stdout]).toEqual([0, expect.stringContaining('The audit log is intact.')])
  await shop.db.rows(sql`alter table audit_entries disable trigger audit_entries_append_only`)
  await shop.db.rows(sql`update audit_entries set actor_id = 'nobody' where action = 'settings.change'`)
  const broken = await tollgate(shop.env, 'audit', 'verify')
  expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('The audit log does not fit.')])
})
