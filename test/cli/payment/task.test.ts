import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, unclear, wrong, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
const start = after(-hours(48), new Date())

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

const close = (word: string, kind: string, note = 'Seen to.', ...more: string[]) =>
  tollgate(shop.env, 'task', 'close', word, '--kind', kind, '--note', note, ...more)
const doctorsTask = async () =>
  (await tollgateJson(shop.env, 'doctor')).data.checks.find((one: { check: string }) => one.check === 'tasks')

test('without open tasks there is a sentence', async () => {
  expect((await tollgate(shop.env, 'task', 'list')).stdout).toBe('There are no open tasks.\n')
  expect((await tollgateJson(shop.env, 'task', 'list')).data).toEqual({ open: 0, tasks: [] })
  expect(await doctorsTask()).toMatchObject({ state: 'ok', fact: 'no open tasks' })
})

for (const [name, args, exit, message] of [
  ['no kind', ['A-1', '--note', 'x'], 2, /Required option '--kind <kind>' not specified/],
  [
    'another kind',
    ['A-1', '--kind', 'x', '--note', 'x'],
    2,
    /Allowed choices are refund, amount_mismatch, unresolved/,
  ],
  ['no note', ['A-1', '--kind', 'refund'], 2, /Required option '--note <text>'/],
  ['an empty note', ['A-1', '--kind', 'refund', '--note', ' '], 2, /1 to 500 characters/],
  ['a note of two lines', ['A-1', '--kind', 'refund', '--note', 'a\nb'], 2, /on one line/],
  ['no such payment', ['A-1', '--kind', 'refund', '--note', 'x'], 1, /No payment has the reference/],
] as const)
  test(`close with ${name} is refused`, async () => {
    const { code, stdout, stderr } = await tollgate(shop.env, 'task', 'close', ...args)
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toMatch(message)
  })

let disputed: Payment
let twice: Payment
let silent: Payment

test('the list has the oldest first, and what to do', async () => {
  shop.setNow(start)
  silent = await shop.ask(merchant)
  await shop.try(silent, unclear)
  twice = await shop.ask(merchant)
  await shop.try(twice, no)
  shop.setNow(after(minutes(1), start))
  await shop.try(twice, yes)
  await shop.hear(twice, yes, 1)
  shop.setNow(after(minutes(2), start))
  disputed = await shop.try(await shop.ask(merchant, { invoice_id: 'AMA-9' }), wrong)
  shop.setNow(after(hours(25), start))
  await shop.hear(silent, unclear)

  const { stdout } = await tollgate(shop.env, 'task', 'list')
  const lines = stdout.split('\n')
  expect(lines[0]).toMatch(/^KIND {17}AMOUNT {3}REFERENCE {17}SINCE {14}MERCHANT$/)
  expect(lines.slice(1, 4).map(line => /^(\w+) +(GHS \S+) +(\S+) /.exec(line)?.slice(1))).toEqual([
    ['refund', 'GHS 25.00', twice.tx_reference],
    ['amount_mismatch', 'GHS 24.00', disputed.tx_reference],
    ['unresolved', 'GHS 25.00', silent.tx_reference],
  ])
  expect(stdout).toMatch(/^ {2}refund +Money arrived twice: refund this amount\.$/m)
  expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(90)
  const { data } = await tollgateJson(shop.env, 'task', 'list', '--limit', '1')
  expect(data).toMatchObject({
    open: 3,
    tasks: [{ kind: 'refund', amount: '25.00', currency: 'GHS', merchant_name: 'Ama Shop' }],
  })
  expect(JSON.stringify(data)).not.toContain('attempt_id')
  expect((await tollgate(shop.env, 'task', 'list', '--limit', '1')).stdout).toMatch(
    /\n2 more are open: give a higher/,
  )
  expect(await doctorsTask()).toEqual({
    check: 'tasks',
    state: 'warning',
    fact: '3 open tasks',
    todo: 'See tollgate task list.',
  })
})

test('closing a refund closes it, once', async () => {
  const { code, stdout } = await close(twice.tx_reference.toLowerCase(), 'refund', ' Given back. ')
  expect([code, stdout]).toEqual([0, `The refund task of ${twice.tx_reference} is closed.\n`])
  const again = await close(twice.tx_reference, 'refund')
  expect([again.code, again.stderr]).toEqual([
    1,
    `${twice.tx_reference} has no open refund task: tollgate task list shows them.\n`,
  ])
  const show = await tollgate(shop.env, 'payment', 'show', twice.tx_reference)
  expect(show.stdout).toMatch(/operator +Closed the refund task: Given back\.$/m)
})

test('closing the task of an unresolved attempt gives the attempt up, and the output has that', async () => {
  const { stdout } = await close('AMA-9', 'amount_mismatch', 'Agreed.', '--merchant', merchant.merchant_id)
  expect(stdout).toBe(
    `The amount_mismatch task of ${disputed.tx_reference} is closed. Its attempt was given up, and the payment is failed.\n`,
  )
  const args = ['--kind', 'unresolved', '--note', 'They do not know it.']
  const { data } = await tollgateJson(shop.env, 'task', 'close', silent.tx_reference, ...args)
  expect(data).toMatchObject({
    attempt_given_up: true,
    status: 'failed',
    closed_note: 'They do not know it.',
  })
  expect(await doctorsTask()).toMatchObject({ state: 'ok' })
})

test('an amount has the decimals of the provider’s currency', async () => {
  const kato = await shop.addMerchant('Kato', 'currencies=UGX')
  shop.setNow(after(minutes(30), start))
  const chargeIn = async (currency: string) => {
    const payment = await shop.ask(kato, { total: '5000', currency: 'UGX' })
    return (await shop.try(payment, { ...yes, amount: 4900n, currency })).tx_reference
  }
  const references = [await chargeIn('UGX'), await chargeIn('USD'), await chargeIn('XAU')]
  const { data } = await tollgateJson(shop.env, 'task', 'list')
  const reported = new Map(data.tasks.map((task: any) => [task.tx_reference, [task.currency, task.amount]]))
  expect(references.map(reference => reported.get(reference))).toEqual([
    ['UGX', '4900'],
    ['USD', '49.00'],
    ['XAU', '4900 in minor units'],
  ])
  const shown = await Promise.all(references.map(one => tollgate(shop.env, 'payment', 'show', one)))
  for (const [at, charged] of ['4900', 'USD 49.00', 'XAU 4900 in minor units'].entries())
    expect(shown[at]?.stdout).toMatch(new RegExp(`disputed +${charged} `))
  for (const reference of references) await close(reference, 'amount_mismatch')
})

test('several tasks of a kind are distinguished by their attempts', async () => {
  shop.setNow(start)
  const payment = await shop.ask(merchant)
  for (const minute of [1, 2, 3]) {
    shop.setNow(after(minutes(minute), start))
    await shop.try(payment, minute < 3 ? no : yes)
  }
  await shop.hear(payment, yes, 1)
  await shop.hear(payment, yes, 2)
  const { code, stderr } = await close(payment.tx_reference, 'refund')
  expect([code, stderr]).toEqual([
    1,
    `Attempts 1 and 2 of ${payment.tx_reference} have an open refund task: give --attempt.\n`,
  ])
  expect((await close(payment.tx_reference, 'refund', 'x', '--attempt', '2')).code).toBe(0)
  expect((await close(payment.tx_reference, 'refund')).code).toBe(0)
})
