import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Try } from '../../../src/core/notification/delivery.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Query, sql } from '../../../src/store/db.ts'
import { addTries } from '../../../src/store/notifications/tries.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

const start = after(-hours(30), new Date())
const ipn_url = 'https://shop.example/ipn'

let shop: TestShop
let merchant: TestMerchant
let other: TestMerchant
let arrived: Payment // answered with 204, and is tried on
let silent: Payment // exhausted
let unsent: Payment // no address
let read: Payment // failed, then paid: two, both acknowledged

const run = (...args: string[]) => tollgate(shop.env, 'notification', ...args)
const runJson = (...args: string[]) => tollgateJson(shop.env, 'notification', ...args)
const change = ({ tx_reference }: Payment, to: Query) =>
  shop.db.rows(sql`update deliveries set ${to} where tx_reference = ${tx_reference}`)

const aTry = ({ merchant_id, tx_reference }: Payment, changed: Partial<Try>): Try => ({
  merchant_id,
  tx_reference,
  sequence: 1,
  try: 1,
  started_at: start,
  ms: 120,
  address: '203.0.113.9',
  status: null,
  result: 'timeout',
  words: '',
  answer: null,
  ...changed,
})

// Untrusted bytes: a terminal title, a colour, a cleared screen, a bidi control, and invalid UTF-8.
const evil = Buffer.concat([
  Buffer.from('\n\u001b]0;owned\u0007\u001b[31mMoved\u001b[2J\u009b2J \u202egnp.exe\rover\nsecond line'),
  Buffer.from([0xff, 0xfe]),
])

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(start)
  merchant = await shop.addMerchant('Ama Shop')
  other = await shop.addMerchant('Kofi Shop')
  silent = await shop.try(await shop.ask(merchant, { ipn_url, invoice_id: 'AMA-1' }), yes)
  shop.setNow(after(minutes(1), start))
  unsent = await shop.try(await shop.ask(other, { invoice_id: 'KOFI-1' }), yes)
  shop.setNow(after(minutes(2), start))
  read = await shop.try(await shop.ask(merchant, { ipn_url, invoice_id: 'AMA-2' }), no)
  shop.setNow(after(minutes(3), start))
  await shop.hear(read, yes)
  shop.setNow(after(minutes(4), start))
  arrived = await shop.try(await shop.ask(merchant, { ipn_url, invoice_id: 'AMA-3' }), yes)

  const ended = after(hours(24), start)
  await change(silent, sql`tries = 16, last_result = 'timeout', next_try_at = null, exhausted_at = ${ended}`)
  await change(
    read,
    sql`tries = 1, last_result = 'acknowledged', next_try_at = null, acknowledged_at = ${start}`,
  )
  const next = after(hours(5) + minutes(15), new Date())
  await change(arrived, sql`tries = 4, last_result = 'other_2xx', next_try_at = ${next}, retry = true`)
  await addTries(shop.db, [
    aTry(arrived, { status: 301, result: 'redirect', answer: evil }),
    aTry(arrived, { try: 2, address: null, result: 'forbidden_address', words: '10.0.0.1 is private' }),
    aTry(arrived, { try: 4, status: 204, result: 'other_2xx', ms: 10_000 }),
  ])
})
afterAll(() => shop.stop())

const ids = async (...args: string[]) => {
  const { data } = await runJson('list', ...args)
  return data.notifications.map(({ id }: { id: string }) => id)
}
const shown = async (payment: Payment) => (await run('show', idOf(payment))).stdout
const idOf = ({ tx_reference }: Payment, sequence = 1) => `${tx_reference}-N${sequence}`

for (const [words, message] of [
  [['list', '--from', '2026-05-02', '--to', '2026-05-01'], /^--from must be before --to\.\n$/],
  [['list', '--merchant', 'nobody'], /^No merchant has the id nobody/],
  [['list', '--payment', 'NONE-1'], /^No payment has the reference or invoice id NONE-1/],
  [['show', 'TG-1'], /^No notification has the id TG-1: tollgate notification list shows the newest\.\n$/],
  [['show', 'TG-\u001b[31m-N1'], /^No notification has the id TG- \[31m-N1/],
  [['redeliver'], /^Give the id of one notification, or --merchant, --from and --to together\.\n$/],
  [['redeliver', '--merchant', 'x', '--from', '2026-05-01'], /^Give the id of one notification/],
  [['redeliver', 'TG-1-N1', '--from', '2026-05-01'], /not both/],
  [['redeliver', 'TG-1-N1'], /^No notification has the id TG-1-N1/],
  [['redeliver', '--merchant', 'nobody', '--from', '2026-05-01', '--to', '2026-05-01'], /^No merchant/],
] as [string[], RegExp][])
  test(`${words.join(' ').replace('\u001b', 'ESC')} is refused`, async () => {
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
  })

describe('list', () => {
  test('the newest first, with state and hints', async () => {
    const { code, stdout } = await run('list')
    const lines = stdout.split('\n')
    expect(code).toBe(0)
    expect(lines[0]).toMatch(/^TIME \(UTC\) {9}ID +STATUS +STATE +TRIES +LAST RESULT +NEXT TRY$/)
    expect(lines.slice(1, 6).map(line => line.slice(19).split(/ {2,}/))).toEqual([
      [idOf(arrived), 'paid', 'due', '4', 'other_2xx', 'in 5 h'],
      [idOf(read, 2), 'paid', 'acknowledged', '1', 'acknowledged'],
      [idOf(read), 'failed', 'acknowledged', '1', 'acknowledged'],
      [idOf(unsent), 'paid', 'none', '0'],
      [idOf(silent), 'paid', 'exhausted', '16', 'timeout'],
    ])
    expect(stdout).toMatch(/\n\nother_2xx: arrived, but only status 200 acknowledges; .*\n$/)
    expect(Math.max(...lines.slice(0, 6).map(line => line.length))).toBeLessThanOrEqual(110)
  })

  test('narrowed', async () => {
    expect(await ids('--state', 'exhausted')).toEqual([idOf(silent)])
    expect(await ids('--state', 'none')).toEqual([idOf(unsent)])
    expect(await ids('--state', 'due', '--merchant', merchant.merchant_id)).toEqual([idOf(arrived)])
    expect(await ids('--merchant', other.merchant_id)).toEqual([idOf(unsent)])
    expect(await ids('--payment', 'AMA-2', '--limit', '1')).toEqual([idOf(read, 2)])
    expect(await ids('--payment', read.tx_reference.toLowerCase())).toEqual([idOf(read, 2), idOf(read)])
    const [from, to] = [after(minutes(1), start).toISOString(), after(minutes(3), start).toISOString()]
    expect(await ids('--from', from, '--to', to)).toEqual([idOf(read), idOf(unsent)])
  })

  test('programs get every date', async () => {
    const { data } = await runJson('list', '--state', 'exhausted')
    expect(data).toEqual({
      notifications: [
        {
          id: idOf(silent),
          merchant_id: merchant.merchant_id,
          tx_reference: silent.tx_reference,
          sequence: 1,
          mode: 'live',
          status: 'paid',
          type: 'status',
          created_at: start.toISOString(),
          state: 'exhausted',
          url: ipn_url,
          style: 'post',
          begun_at: start.toISOString(),
          tries: 16,
          last_try_at: null,
          last_result: 'timeout',
          next_try_at: null,
          acknowledged_at: null,
          exhausted_at: after(hours(24), start).toISOString(),
        },
      ],
      hints: [],
    })
  })

  test('no match', async () => {
    const { stdout } = await run('list', '--state', 'due', '--merchant', other.merchant_id)
    expect(stdout).toBe('No notification matches: remove an option to see more.\n')
  })
})

describe('show', () => {
  test('has the facts, the body, every try and hints', async () => {
    const { code, stdout } = await run('show', idOf(arrived).toLowerCase())
    expect(code).toBe(0)
    const body = await shop.db.one<{ body: string }>(
      sql`select body from notifications where tx_reference = ${arrived.tx_reference}`,
    )
    for (const pattern of [
      /^ {2}merchant {3}Ama Shop \(\w+\)$/m,
      /^ {2}payment {4}TG-\S+ \(invoice AMA-3\)$/m,
      /^ {2}url {8}https:\/\/shop\.example\/ipn$/m,
      /^ {2}style {6}post$/m,
      /^ {2}4 tries so far\.\n {2}The next try is \d{4}-\S+ \S+ UTC, in 5 h\.\n {2}At most 16 tries since /m,
      /^ {2}1 {3}\d{4}-\S+ \S+ UTC +120 ms {3}203\.0\.113\.9 {3}301 {6}redirected, which is not followed$/m,
      /^ {2}2 {3}.* not sent: a forbidden address: 10\.0\.0\.1 is private$/m,
      /^ {2}3 +a node stopped before it saved the result$/m,
      /^ {2}4 {3}.* 10\.0 s .* 204 +arrived, but not acknowledged$/m,
      /^redirect: redirects are not followed/m,
      /^forbidden_address: the address is not public.* TOLLGATE_EGRESS_LOOPBACK/m,
      /^other_2xx: arrived, but only status 200 acknowledges/m,
    ])
      expect(stdout).toMatch(pattern)
    expect(stdout).toContain(`\nBody\n  ${body?.body}\n`)
  })

  test('an untrusted answer is one line without control characters', async () => {
    const { stdout } = await run('show', idOf(arrived))
    expect(stdout).toMatch(/^ +answered: \]0;owned +\[31mMoved \[2J 2J +gnp\.exe …$/m)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(stdout).not.toContain('second line')
  })

  test('JSON has the whole answer, with control characters escaped', async () => {
    const { stdout } = await run('show', idOf(arrived), '--json')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    const data = JSON.parse(stdout)
    expect(data).toMatchObject({
      id: idOf(arrived),
      merchant_name: 'Ama Shop',
      invoice_id: 'AMA-3',
      state: 'due',
      tries: 4,
      lost_tries: [3],
    })
    expect(data.tried).toHaveLength(3)
    expect(data.tried[0]).toEqual({
      try: 1,
      started_at: start.toISOString(),
      ms: 120,
      address: '203.0.113.9',
      status: 301,
      result: 'redirect',
      words: '',
      answer: evil.toString('utf8'),
    })
    expect(data.hints).toHaveLength(3)
  })

  test('each state has a sentence', async () => {
    expect(await shown(silent)).toMatch(
      /^ {2}Exhausted \d{4}-.* UTC, after 16 tries\.\n {2}Send it again: tollgate notification redeliver TG-\S+-N1$/m,
    )
    expect(await shown(read)).toMatch(/^ {2}Acknowledged \d{4}-.* UTC, by try 1\.$/m)
    expect(await shown(unsent)).toMatch(/^ {2}Not sent: no ipn_url was set\.\n {2}To send it now: /m)
  })
})

test('payment show has the notifications of the payment', async () => {
  const { stdout } = await tollgate(shop.env, 'payment', 'show', 'AMA-2')
  expect(stdout).toMatch(
    /\n\nNotifications\n {2}ID +STATUS +STATE +TRIES +LAST RESULT +NEXT TRY\n {2}TG-\S+-N1 +failed +acknowledged +1 +acknowledged\n {2}TG-\S+-N2 +paid/,
  )
  const { data } = await tollgateJson(shop.env, 'payment', 'show', 'AMA-3')
  expect(data.notifications).toMatchObject([
    { id: idOf(arrived), state: 'due', tries: 4, last_result: 'other_2xx' },
  ])
})

const doctors = async () =>
  (await tollgateJson(shop.env, 'doctor')).data.checks.find(
    ({ check }: { check: string }) => check === 'deliveries',
  )

test('doctor counts exhausted deliveries, and names the command that lists them', async () => {
  expect(await doctors()).toEqual({
    check: 'deliveries',
    state: 'warning',
    fact: '1 was exhausted in the last 7 days: never acknowledged',
    todo: 'See tollgate notification list --state exhausted.',
  })
  await change(silent, sql`exhausted_at = ${after(-hours(24 * 8), new Date())}`)
  expect(await doctors()).toMatchObject({ state: 'ok', fact: 'none was exhausted in the last 7 days' })
})

describe('redeliver', () => {
  test('one', async () => {
    const { code, stdout } = await run('redeliver', idOf(silent))
    expect([code, stdout]).toEqual([
      0,
      `${idOf(silent)} is due now: a running gateway sends it within a second.\n`,
    ])
    expect((await run('show', idOf(silent))).stdout).toMatch(
      /^ {2}16 tries so far\.\n {2}The next try is now\.$/m,
    )
  })

  test('one without an address, or that is being sent, is refused with what to do', async () => {
    expect((await run('redeliver', idOf(unsent))).stderr).toBe(
      `${idOf(unsent)} has no address: set one with tollgate merchant set ${other.merchant_id} ipn_url=URL\n`,
    )
    await change(arrived, sql`lease_until = ${after(minutes(5), new Date())}`)
    const { code, error } = await runJson('redeliver', idOf(arrived))
    expect([code, error.message]).toEqual([1, `${idOf(arrived)} is being sent now: wait for the result.`])
    expect((await run('show', idOf(arrived))).stdout).toMatch(/^ {2}A try is under way\.$/m)
  })

  test('a time', async () => {
    const time = ['--from', start.toISOString(), '--to', after(hours(1), start).toISOString()]
    const none = await run('redeliver', '--merchant', merchant.merchant_id, ...time)
    expect(none.stdout).toBe(
      'Ama Shop has no exhausted notification in that period. --state all includes all of them.\n',
    )
    const all = await run('redeliver', '--merchant', merchant.merchant_id, ...time, '--state', 'all')
    expect(all.stdout).toBe(
      '3 notifications of Ama Shop are due now: a running gateway sends them.\n' +
        '1 is being sent now and was not changed.\n',
    )
    const { data } = await runJson('redeliver', '--merchant', other.merchant_id, ...time, '--state', 'all')
    expect(data).toMatchObject({ state: 'all', redelivered: 0, being_sent: 0, no_address: 1, left_out: 0 })
  })
})
