import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newAttemptId } from '../../../src/runtime/ids.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { lockAttempt } from '../../../src/store/payments/attempts.ts'
import { promptAttempt } from '../../../src/store/payments/callbacks.ts'
import {
  claimDueAttempts,
  type DueAttempt,
  overdueElsewhere,
  type Room,
} from '../../../src/store/payments/dueAttempts.ts'
import { lockRows } from '../../support/database/lockRows.ts'
import { withoutSkipLocked } from '../../support/database/withoutSkipLocked.ts'
import {
  insertAttempt,
  openPaymentDatabase,
  type PaymentDatabase,
  saveAttempt,
} from '../../support/payments/paymentDatabase.ts'
import { after, anAttempt, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

let lives: PaymentDatabase
let db: Db
beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
})
afterAll(() => lives.close())

let names: Map<string, string> // of attempts, by their ids

// Three of each of two providers, a second apart, and one whose time has not come.
beforeEach(async () => {
  names = new Map()
  await db.rows(sql`delete from attempts`)
  await add('later', 'mtn', after(hours(1)))
  for (const at of [3, 1, 2])
    for (const provider_account of ['mtn', 'bank'])
      await add(`${provider_account} ${at}`, provider_account, after(seconds(at)))
})

async function add(name: string, provider_account: string, next_poll_at: Date | null) {
  const [payment] = await lives.addPayments(1, noon)
  const { merchant_id = '', tx_reference = '' } = payment ?? {}
  const attempt_id = newAttemptId(merchant_id)
  names.set(attempt_id, name)
  await insertAttempt(
    db,
    anAttempt({ merchant_id, tx_reference, attempt_id, provider_account, next_poll_at }),
  )
}
const idOf = (name: string) => [...names].find(([, known]) => known === name)?.[0] ?? ''
const knock = (name: string) =>
  promptAttempt(db, { merchant_id: lives.merchant_id, attempt_id: idOf(name) }, after(seconds(10)))

const room = (account: string, most: number, callback_received = false): Room => ({
  account,
  mode: 'test',
  identities: [`${account} test b1`, `${account} test b2`],
  callback_received,
  most,
})

async function claimFrom(own: Db, rooms: readonly Room[]) {
  const lease = { now: after(seconds(10)), until: after(seconds(30)) }
  const claimed = await claimDueAttempts(own, rooms, lease)
  return claimed
    .map(({ attempt_id, by_callback }) => names.get(attempt_id) + (by_callback ? '!' : ''))
    .toSorted()
}

for (const [kind, open] of [
  ['a database that skips', () => db],
  ['a database that refuses to skip', () => withoutSkipLocked(db).db],
] as const)
  describe(kind, () => {
    test('the oldest of each room, as many as it has place for, and once', async () => {
      expect(await claimFrom(open(), [room('mtn', 2), room('bank', 1), room('gone', 9)])).toEqual([
        'bank 1',
        'mtn 1',
        'mtn 2',
      ])
      expect(await claimFrom(open(), [room('mtn', 9)])).toEqual(['mtn 3'])
      expect(await claimFrom(open(), [room('mtn', 9)])).toEqual([])
    })

    test('of an account name, only attempts of its mode and its businesses', async () => {
      for (const [name, columns] of [
        ['mtn 1', sql`account_identity = 'mtn test b2'`],
        ['mtn 2', sql`account_identity = 'mtn test other'`],
        ['mtn 3', sql`account_identity = 'mtn test b1', mode = 'live'`],
        ['bank 1', sql`mode = null`],
        ['bank 2', sql`account_identity = 'mtn test b1'`],
      ] as const)
        await db.rows(sql`update attempts set ${columns} where attempt_id = ${idOf(name)}`)
      expect(await claimFrom(open(), [room('mtn', 9), room('bank', 9)])).toEqual([
        'bank 1',
        'bank 3',
        'mtn 1',
      ])
    })

    test('a callback has a place of its own, and is heard once', async () => {
      expect(await knock('later')).toBe(true)
      expect(await knock('mtn 2')).toBe(true)
      expect(await claimFrom(open(), [room('mtn', 1), room('mtn', 9, true)])).toEqual([
        'later!',
        'mtn 1',
        'mtn 2!',
      ])
      expect(await claimFrom(open(), [room('mtn', 9), room('mtn', 9, true)])).toEqual(['mtn 3'])
    })

    test('what somebody holds is left out', async () => {
      const letGo = await lockRows(
        lives.url,
        'select from attempts where merchant_id = $1 and attempt_id = $2',
        [lives.merchant_id, idOf('mtn 1')],
      )
      const rooms = [room('mtn', 9), room('bank', 9)]
      const taken = await claimFrom(open(), rooms)
      await letGo()
      expect(taken).toEqual(['bank 1', 'bank 2', 'bank 3', 'mtn 2', 'mtn 3'])
      expect(await claimFrom(open(), rooms)).toEqual(['mtn 1'])
    })
  })

const everyRoom = [true, false].flatMap(callback_received =>
  ['mtn', 'bank'].map(name => room(name, 9, callback_received)),
)
const takeAt = async (now: Date) =>
  (await claimDueAttempts(db, everyRoom, { now, until: after(seconds(20), now) })).map(
    ({ attempt_id, ...row }) => ({
      ...row,
      attempt_id,
      name: names.get(attempt_id),
    }),
  )
const namesAt = async (now: Date) => (await takeAt(now)).map(({ name }) => name)

test('a lease that has ended, and one that a clock ahead has written, keep nobody from asking', async () => {
  expect(await namesAt(after(seconds(10)))).toHaveLength(6)
  expect(await namesAt(after(seconds(29)))).toEqual([])
  expect(await namesAt(after(seconds(30)))).toHaveLength(6)
  await db.rows(sql`update attempts set lease_until = ${after(hours(1))}`)
  expect(await namesAt(after(seconds(31)))).toHaveLength(6)
})

test('a callback while somebody asks: it is asked about at once, and the older answer changes nothing of that', async () => {
  const [older] = (await takeAt(after(seconds(10)))).filter(({ name }) => name === 'mtn 1')
  await knock('mtn 1')
  const stored = () => lockAttempt(db, lives.merchant_id, idOf('mtn 1'))
  await saveAttempt(db, { ...(older as DueAttempt), next_poll_at: (await stored())?.next_poll_at ?? null })
  expect(await claimFrom(db, everyRoom)).toEqual(['mtn 1!'])
  expect(await claimFrom(db, everyRoom)).toEqual([])
  await saveAttempt(db, { ...(older as DueAttempt), next_poll_at: after(seconds(40)) })
  expect(await stored()).toMatchObject({ callback_received: false, lease_until: null })
})

// A node without the account would take the place of the nodes that have it.
test('attempts of accounts that are not open here are seen when they are overdue, and not claimed', async () => {
  const opened = [{ account: 'mtn', mode: 'test', identity: null, identities: [] }] as const
  const times = { now: after(minutes(10)), since: after(seconds(2)), limit: 9 }
  const found = await overdueElsewhere(db, opened, times)
  expect(found.map(({ attempt_id, has_task }) => [names.get(attempt_id), has_task])).toEqual([
    ['bank 1', false],
    ['bank 2', false],
  ])
  expect(await overdueElsewhere(db, [], { ...times, limit: 3 })).toHaveLength(3)
})
