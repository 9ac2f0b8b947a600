import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstReferenceAt } from '../../../src/core/payment/reference.ts'
import { newReference } from '../../../src/runtime/ids.ts'
import { addOutlet } from '../../../src/store/merchants/merchants.ts'
import { query } from '../../support/database/database.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { no, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
const days = ['--from', '2126-05-01', '--to', '2126-05-31']
const report = (...args: string[]) => ['outlet', 'report', '--merchant', merchant.merchant_id, ...args]

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
  const other = await shop.addMerchant('Kofi')
  const { merchant_id } = merchant
  for (const [code, name] of [
    ['-EVIL', '=HYPERLINK("http://evil.example","x")'],
    ['ACC-1', 'Accra, "Mall"'],
  ] as const)
    await addOutlet(shop.db, { merchant_id, code, name, created_at: new Date() })
  // Times in the future, and increasing: references of one process never decrease.
  const on = async (time: string, extra_outlet?: string, total = '25.00') => {
    shop.setNow(new Date(time))
    return shop.ask(merchant, { total, ...(extra_outlet && { extra_outlet }) })
  }
  await on('2126-04-30T23:59:59.999Z', 'ACC-1') // the day before
  await shop.try(await on('2126-05-01T00:00:00Z', 'ACC-1'), yes)
  await shop.try(await on('2126-05-10T10:00:00Z', 'ACC-1'), yes)
  await shop.try(await on('2126-05-11T10:00:00Z', 'ACC-1'), no, { payment_method: 'card', input: {} })
  await on('2126-05-12T10:00:00Z', '-EVIL', '10000000000.01'.slice(0, 6))
  await shop.ask(merchant, {}, 'test')
  await shop.ask(other)
  await on('2126-05-31T23:59:59.999Z', undefined, '7.5')
  await on('2126-06-01T00:00:00Z', 'ACC-1') // the day after
})
afterAll(() => shop.stop())

describe('wrong options are refused', () => {
  const wrong: [string, string[], number, RegExp][] = [
    ['no time', [], 2, /Required option '--from <date>' not specified/],
    ['no such day', ['--from', '2126-02-30', '--to', '2126-03-01'], 2, /must be a day such as/],
    ['another way to write days', ['--from', '01/05/2126', '--to', '2126-05-31'], 2, /must be a day such as/],
    [
      'an instant without its zone',
      ['--from', '2126-05-01T00:00:00', '--to', '2126-05-31'],
      2,
      /an instant such as/,
    ],
    ['a time long gone', ['--from', '0001-01-01', '--to', '0001-01-02'], 2, /must be a day such as/],
    ['the wrong way round', ['--from', '2126-05-02', '--to', '2126-05-01'], 1, /--from must be before --to/],
    ['more than a year', ['--from', '2125-01-01', '--to', '2126-05-01'], 1, /at most 366 days/],
    ['an outlet that is not there', [...days, '--outlet', 'NOPE'], 1, /Ama Shop has no outlet NOPE/],
    ['two forms at once', [...days, '--csv', '--json'], 1, /not both/],
  ]
  for (const [name, args, exit, message] of wrong)
    test(name, async () => {
      const { code, stdout, stderr } = await tollgate(shop.env, ...report(...args))
      expect([code, stdout]).toEqual([exit, ''])
      expect(stderr).toMatch(message)
    })
  test('an unknown merchant', async () => {
    const { code, stderr } = await tollgate(shop.env, 'outlet', 'report', '--merchant', 'nobody', ...days)
    expect([code, stderr]).toEqual([1, 'No merchant has the id nobody: tollgate merchant list shows all.\n'])
  })
})

test('counts and sums by outlet, status, method and currency, with the last day in it', async () => {
  const { code, data } = await tollgateJson(shop.env, ...report(...days))
  expect(code).toBe(0)
  expect(data).toMatchObject({
    mode: 'live',
    from: '2126-05-01T00:00:00.000Z',
    until: '2126-06-01T00:00:00.000Z',
  })
  const rows = data.rows.map((row: Record<string, unknown>) => Object.values(row).join('|'))
  expect(rows.toSorted()).toEqual(
    [
      '-EVIL|=HYPERLINK("http://evil.example","x")|awaiting_payment||GHS|1|100000.00',
      'ACC-1|Accra, "Mall"|failed|card|GHS|1|25.00',
      'ACC-1|Accra, "Mall"|paid|mtn_mobile_money|GHS|2|50.00',
      '||awaiting_payment||GHS|1|7.50',
    ].toSorted(),
  )
  expect(data.totals).toEqual([
    { status: 'awaiting_payment', currency: 'GHS', payments: 2, total: '100007.50' },
    { status: 'failed', currency: 'GHS', payments: 1, total: '25.00' },
    { status: 'paid', currency: 'GHS', payments: 2, total: '50.00' },
  ])
})

const rows = async (...args: string[]) => (await tollgateJson(shop.env, ...report(...args))).data.rows

test('one outlet, one mode, or a time to the instant', async () => {
  expect(await rows(...days, '--outlet', '-EVIL')).toHaveLength(1)
  expect(await rows(...days, '--mode', 'test')).toMatchObject([
    { payments: 1, outlet: null, outlet_name: null },
  ])
  const oneHour = ['--from', '2126-05-10T11:00:00+01:00', '--to', '2126-05-10T10:00:00.001Z']
  expect(await rows(...oneHour)).toMatchObject([{ payments: 1, total: '25.00', status: 'paid' }])
  expect(await rows('--from', '2126-05-10T09:00:00Z', '--to', '2126-05-10T10:00:00Z')).toEqual([])
})

test('the table is for people, with totals below', async () => {
  const { stdout } = await tollgate(shop.env, ...report(...days, '--outlet', 'ACC-1'))
  expect(stdout).toBe(
    [
      'Ama Shop, live payments created from 2126-05-01 00:00:00 UTC until 2126-06-01 00:00:00 UTC',
      '',
      'OUTLET   NAME            STATUS   METHOD             PAYMENTS       TOTAL',
      'ACC-1    Accra, "Mall"   failed   card                      1   GHS 25.00',
      'ACC-1    Accra, "Mall"   paid     mtn_mobile_money          2   GHS 50.00',
      '',
      'all                      failed                             1   GHS 25.00',
      'all                      paid                               2   GHS 50.00',
      '',
    ].join('\n'),
  )
  const none = await tollgate(shop.env, ...report('--from', '2126-07-01', '--to', '2126-07-01'))
  expect(none.stdout).toMatch(/There are none: tollgate payment list/)
})

test('without a merchant each one has a report, and every CSV line has the merchant_id', async () => {
  const { code, data } = await tollgateJson(shop.env, 'outlet', 'report', ...days)
  expect(code).toBe(0)
  const counted = data.reports.map((one: any) => one.rows.map((row: any) => row.payments))
  expect(counted.map((list: number[]) => list.length).toSorted()).toEqual([1, 4])
  const { stdout } = await tollgate(shop.env, 'outlet', 'report', ...days)
  for (const name of ['Ama Shop', 'Kofi']) expect(stdout).toContain(`${name}, live payments created from`)
  const csv = (await tollgate(shop.env, 'outlet', 'report', ...days, '--csv')).stdout.trimEnd().split('\n')
  expect(csv[0]).toBe('merchant_id,outlet,outlet_name,status,payment_method,currency,payments,total')
  expect(csv.filter(line => line.startsWith(`${merchant.merchant_id},`))).toHaveLength(4)
  expect(csv).toHaveLength(6)
  const alone = await tollgate(shop.env, 'outlet', 'report', ...days, '--outlet', 'ACC-1')
  expect([alone.code, alone.stderr]).toEqual([
    1,
    'Give --merchant with --outlet: merchants may use the same codes.\n',
  ])
})

test('no CSV cell starts like a formula', async () => {
  const { code, stdout } = await tollgate(shop.env, ...report(...days, '--csv'))
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  expect(lines[0]).toBe('outlet,outlet_name,status,payment_method,currency,payments,total')
  expect(lines.slice(1).toSorted()).toEqual(
    [
      '',
      `'-EVIL,"'=HYPERLINK(""http://evil.example"",""x"")",awaiting_payment,(none),GHS,1,100000.00`,
      '(none),,awaiting_payment,(none),GHS,1,7.50',
      'ACC-1,"Accra, ""Mall""",failed,card,GHS,1,25.00',
      'ACC-1,"Accra, ""Mall""",paid,mtn_mobile_money,GHS,2,50.00',
    ].toSorted(),
  )
})

test('each currency is summed separately with its decimals; an unknown one in minor units', async () => {
  const kato = await shop.addMerchant('Kato', 'currencies=GHS,UGX,XOF')
  shop.setNow(new Date('2127-05-02T00:00:00Z'))
  for (const [total, currency] of [
    ['900000', 'UGX'],
    ['350000.00', 'UGX'],
    ['12.50', 'GHS'],
    ['700', 'XOF'],
  ] as const)
    await shop.ask(kato, { total, currency })
  await query(shop.url, `update payments set currency = 'XAU' where currency = 'XOF'`)
  const args = [
    'outlet',
    'report',
    '--merchant',
    kato.merchant_id,
    '--from',
    '2127-05-01',
    '--to',
    '2127-05-31',
  ]
  const { data } = await tollgateJson(shop.env, ...args)
  const status = 'awaiting_payment'
  expect(data.totals).toEqual([
    { status, currency: 'GHS', payments: 1, total: '12.50' },
    { status, currency: 'UGX', payments: 2, total: '1250000' },
    { status, currency: 'XAU', payments: 1, total: '700 in minor units' },
  ])
  const csv = (await tollgate(shop.env, ...args, '--csv')).stdout
  expect(csv).toContain(`(none),,${status},(none),UGX,2,1250000\n`)
  expect((await tollgate(shop.env, ...args)).stdout).toMatch(/ UGX 1250000\n/)
})

test('the bound of a moment lies below its references and above those before', () => {
  let time = new Date('2130-01-01T00:00:00Z').getTime() // later than any other here: references never step back
  for (let step = 1; step < 1e12; step *= 3) {
    time += Math.floor(step)
    const reference = newReference(new Date(time))
    expect(firstReferenceAt(new Date(time)) <= reference).toBe(true)
    expect(firstReferenceAt(new Date(time + 1)) > reference).toBe(true)
    expect(firstReferenceAt(new Date(time))).toHaveLength(reference.length)
  }
  expect(firstReferenceAt(new Date(-1))).toBe('TG-000000-000000-000000')
})

test('the time in the references is what the database reads by', async () => {
  const plan = await query(
    shop.url,
    `explain select 1 from payments where merchant_id = $1 and tx_reference >= $2 and tx_reference < $3`,
    [
      merchant.merchant_id,
      firstReferenceAt(new Date('2126-05-01')),
      firstReferenceAt(new Date('2126-06-01')),
    ],
  )
  expect(JSON.stringify(plan)).toMatch(/Cond: .*tx_reference >= .*tx_reference </)
})
