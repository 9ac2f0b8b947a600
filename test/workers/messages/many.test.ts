import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { OutboundMessage, SendResult } from '../../../src/core/message/messenger.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { messengersOf } from '../../../src/runtime/messengers.ts'
import { type Db, openDb, type Query, sql } from '../../../src/store/db.ts'
import { startMessages } from '../../../src/workers/messages/worker.ts'
import { createRandom, random } from '../../support/random.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { addMany, allMessages, later, fakeMessenger, testSender, yes } from '../../support/messages/sender.ts'
import { startPostgresProxy } from '../../support/database/postgresProxy.ts'

let lives: PaymentDatabase
let db: Db
let payment: Payment
let nodes: Db[]
let now = noon

const clock = () => now
const numbers = (count: number) =>
  Array.from({ length: count }, (_, at) => `+23324${String(at).padStart(7, '0')}`)

beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
  nodes = Array.from({ length: 4 }, () => openDb(lives.url, 2))
  const [asked] = await lives.addPayments(1, noon)
  await db.rows(sql`update payments set status = 'paid'`)
  payment = { ...(asked as Payment), status: 'paid' }
})
afterAll(async () => {
  await Promise.all(nodes.map(node => node.end()))
  await lives.close()
})
beforeEach(async () => {
  now = noon
  await db.rows(sql`delete from messages`)
})

const isAnyWaiting = async () =>
  (await db.one(sql`select 1 from messages where next_try_at is not null limit 1`)) !== undefined

const countById = (messages: readonly OutboundMessage[]) => {
  const counts = new Map<string, number>()
  for (const { id } of messages) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
const mostOf = (messages: readonly OutboundMessage[]) => {
  const counts = new Map<string, number>()
  for (const { to } of messages) counts.set(to, (counts.get(to) ?? 0) + 1)
  return Math.max(0, ...counts.values())
}

for (const [cap, perRecipient, perMerchant, sent] of [
  ['per recipient', 10, 1000, 300],
  ['per merchant', 1000, 50, 50],
] as const)
  test(`ten thousand status changes, four processes: exactly the cap ${cap} is sent`, async () => {
    const readers = numbers(30)
    await addMany(
      db,
      payment,
      Array.from({ length: 10_000 }, (_, at) => readers[at % 30] as string),
      now,
    )
    const sms = fakeMessenger('sms')
    const rules = { smsPrefixes: ['+233'], perRecipient, perMerchant }
    const posts = nodes.map(node => testSender(node, clock, [sms], { rules, random }))
    for (;;) {
      await Promise.all(posts.map(post => post.sendAll()))
      if (!(await isAnyWaiting())) break
      now = after(seconds(3), now)
    }
    expect(sms.sent).toHaveLength(sent)
    expect(mostOf(sms.sent)).toBeLessThanOrEqual(perRecipient)
    expect(Math.max(...countById(sms.sent).values())).toBe(1)
    expect((await allMessages(db)).filter(({ state }) => state === 'dropped')).toHaveLength(10_000 - sent)
  })

test('processes that count at the same time postpone messages over the cap', async () => {
  await addMany(
    db,
    payment,
    Array.from({ length: 40 }, () => '+233241234567'),
    now,
  )
  const counted: (() => void)[] = []
  // Each process waits after its count until all have counted.
  const meeting = (node: Db): Db => {
    let isFirst = true
    return {
      ...node,
      async rows<Row>(query: Query) {
        const rows = await node.rows<Row>(query)
        if (query.name !== 'count_messages' || !isFirst) return rows
        isFirst = false
        await new Promise<void>(resolve => {
          counted.push(resolve)
          if (counted.length === nodes.length) for (const goOn of counted) goOn()
        })
        return rows
      },
    }
  }
  const sms = fakeMessenger('sms')
  const rules = { smsPrefixes: ['+233'], perRecipient: 10, perMerchant: 1000 }
  const posts = nodes.map(node => testSender(meeting(node), clock, [sms], { rules, random }))
  const steps = []
  for (const post of posts) {
    steps.push(post.step('sms'))
    await expect.poll(() => counted.length).toBe(steps.length)
  }
  await Promise.all(steps)
  await Promise.all(posts.map(post => post.finished()))
  expect(sms.sent.length).toBeLessThanOrEqual(10)
  // The number of rounds is random.
  for (let turn = 0; turn < 1000 && (await isAnyWaiting()); turn++) {
    now = after(300, now)
    await Promise.all(posts.map(post => post.sendAll()))
  }
  expect(await isAnyWaiting()).toBe(false)
  expect(sms.sent).toHaveLength(10)
  expect((await allMessages(db)).filter(({ state }) => state === 'dropped')).toHaveLength(30)
})

test('several processes at once never send one message twice', async () => {
  await addMany(db, payment, numbers(300), now)
  const fixed = createRandom(7)
  const sms = fakeMessenger('sms', async () => {
    await sleep(fixed.random() * 5)
    return fixed.random() < 0.3 ? later : yes
  })
  const posts = nodes.map(node => testSender(node, clock, [sms]))
  for (;;) {
    await Promise.all(posts.map(post => post.sendAll()))
    const next = await db.one<{ at: Date | null }>(sql`select min(next_try_at) as at from messages`)
    if (!next?.at) break
    now = next.at
  }
  const rows = await allMessages(db)
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['sent']))
  const counts = countById(sms.sent)
  for (const { merchant_id, message_id, tries } of rows)
    expect(counts.get(`${merchant_id}-${message_id}`)).toBe(tries)
})

test('a message of a process that died is sent again once after its lease', async () => {
  await addMany(db, payment, numbers(5), now)
  const silent = fakeMessenger('sms', () => new Promise<SendResult>(() => {}))
  const dying = testSender(nodes[0] as Db, clock, [silent])
  expect(await dying.step('sms')).toBe(5)
  const sms = fakeMessenger('sms')
  const rules = { smsPrefixes: ['+233'], perRecipient: 1, perMerchant: 5 }
  const other = testSender(nodes[1] as Db, clock, [sms], { rules })
  now = after(minutes(5) - 1)
  expect(await other.sendAll()).toBe(0)
  now = after(minutes(5))
  expect(await other.sendAll()).toBe(5)
  expect(sms.sent).toHaveLength(5)
  expect(silent.sent).toHaveLength(5)
  now = after(minutes(60))
  expect(await other.sendAll()).toBe(0)
})

test('a result after the lease changes nothing', async () => {
  await addMany(db, payment, numbers(1), now)
  const answers: ((sent: SendResult) => void)[] = []
  const slow = fakeMessenger('sms', () => new Promise<SendResult>(resolve => void answers.push(resolve)))
  const first = testSender(nodes[0] as Db, clock, [slow])
  await first.step('sms')
  now = after(minutes(6))
  await testSender(nodes[1] as Db, clock, [fakeMessenger('sms')]).sendAll()
  await expect.poll(() => answers.length).toBe(1)
  answers[0]?.({ state: 'rejected', reason: 'No.' })
  await first.finished()
  expect(first.seen).toEqual([])
  expect(await allMessages(db)).toMatchObject([{ state: 'sent', tries: 2, words: '' }])
})

describe('the loops', () => {
  test('a slow mail server delays no SMS, takes only its slots, and does not delay the stop', async () => {
    await addMany(
      db,
      payment,
      Array.from({ length: 40 }, (_, at) => `ama${at}@shop.example`),
      now,
    )
    await addMany(db, payment, numbers(200), now)
    const answers: (() => void)[] = []
    const email = fakeMessenger('email', () => new Promise(done => void answers.push(() => done(yes))))
    const sms = fakeMessenger('sms', async () => {
      await sleep(2)
      return yes
    })
    const loops = startMessages({
      db: nodes[0] as Db,
      clock,
      random,
      rules: { smsPrefixes: ['+233'], perRecipient: 10, perMerchant: 10_000 },
      baseUrl: () => 'https://pay.example',
      messengers: messengersOf([
        { name: 'slow', messenger: email },
        { name: 'fast', messenger: sms },
      ]),
      observe: () => {},
      onTrouble: () => {},
    })
    await expect.poll(() => sms.sent.length, { timeout: 20_000 }).toBe(200)
    await expect.poll(() => email.sent.length).toBe(10)
    expect(loops.underWay('email')).toBe(10)
    answers.shift()?.() // one ends, the next goes
    await expect.poll(() => email.sent.length).toBe(11)
    await addMany(db, payment, ['+233249999999'], now)
    loops.wake()
    await expect.poll(() => sms.sent.length).toBe(201)
    const stopped = loops.stop()
    for (let turn = 0; turn < 10; turn++) answers.shift()?.()
    await stopped
    expect(email.sent).toHaveLength(11)
    expect(loops.underWay('email')).toBe(0)
  })

  test('no more than one connection at a time', async () => {
    await addMany(
      db,
      payment,
      [...numbers(60), ...numbers(60).map(number => `a${number.slice(1)}@shop.example`)],
      now,
    )
    let busy = 0
    let most = 0
    const counted: Db = {
      ...db,
      async rows(query) {
        most = Math.max(most, ++busy)
        return db.rows<never>(query).finally(() => busy--)
      },
    }
    const messengers = [fakeMessenger('sms'), fakeMessenger('email')]
    const post = testSender(counted, clock, messengers)
    await Promise.all([post.sendAll(), post.sendAll()])
    expect(messengers.map(({ sent: messages }) => messages.length)).toEqual([60, 60])
    expect(most).toBe(1)
  })
})

describe('when the database goes away', () => {
  test('while messages are being sent, results are saved when it is back, and nothing is sent twice', async () => {
    await addMany(db, payment, numbers(8), now)
    const proxy = await startPostgresProxy(lives.url)
    const behind = openDb(proxy.url, 2)
    const sms = fakeMessenger('sms', async () => {
      await proxy.goDown()
      return yes
    })
    const post = testSender(behind, clock, [sms])
    expect(await post.step('sms')).toBe(8)
    await sleep(6500)
    await proxy.comeUp()
    await post.finished()
    expect(post.seen.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => 'sent'))
    expect(sms.sent).toHaveLength(8)
    expect((await allMessages(db)).map(({ state, tries }) => `${state} ${tries}`)).toEqual(
      Array.from({ length: 8 }, () => 'sent 1'),
    )
    await behind.end()
    await proxy.stop()
  })

  test('with connections cut at any statement everything is sent, and hardly anything twice', async () => {
    await addMany(db, payment, numbers(150), now)
    const proxy = await startPostgresProxy(lives.url)
    const behind = openDb(proxy.url, 2)
    const fixed = createRandom(11)
    const sms = fakeMessenger('sms')
    const post = testSender(behind, clock, [sms], { onTrouble: () => {} })
    proxy.onStatement = text =>
      text.includes('messages') && fixed.random() < 0.2
        ? fixed.pick(['unsent', 'at work', 'unheard', 'half heard'])
        : undefined
    for (let turn = 0; turn < 30; turn++) {
      await post.sendAll()
      now = after(minutes(6), now)
    }
    const counts = [...countById(sms.sent).values()]
    expect(counts).toHaveLength(150)
    expect((await allMessages(db)).filter(({ state }) => state !== 'sent')).toEqual([])
    expect(Math.max(...counts)).toBe(1) // a lost word about a result is asked again, so nothing was sent twice
    await behind.end()
    await proxy.stop()
  })
})
