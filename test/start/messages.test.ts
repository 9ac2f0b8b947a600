import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { openMessages } from '../../src/start/messages.ts'
import { openMailServer } from '../messengers/mailServer.ts'
import { yes } from '../support/payments/rows.ts'
import { messagesOf } from '../support/messages/sender.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

let shop: TestShop
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

test('from the settings to the mailbox, and no recipient in the log', async () => {
  const server = await openMailServer()
  const lines: string[] = []
  const log = createLog('info', { write: line => void lines.push(line) })
  const metrics = createMetrics()
  const merchant = await shop.addMerchant()
  const post = await openMessages(
    readConfig({
      ...shop.env,
      SMTP_URL: server.url,
      SMTP_FROM: 'pay@tollgate.example',
      TOLLGATE_MESSAGES_PER_RECIPIENT: '1',
    }),
    {
      db: shop.db,
      localWorkers: shop.runtime.localWorkers,
      clock: () => new Date(),
      baseUrl: () => 'https://pay.example',
      metrics,
      log,
    },
  )
  const told = { number: '0241234567', email: 'ama@shop.example' }
  const payments = [await shop.ask(merchant, told), await shop.ask(merchant, told)]
  for (const payment of payments) await shop.try(payment, yes)
  post.wake()
  const states = async () =>
    (await Promise.all(payments.map(payment => messagesOf(shop.db, payment))))
      .flat()
      .map(({ medium, state, messenger }) => `${medium} ${state} ${messenger}`)
      .toSorted()
  const all = ['email dropped null', 'email sent smtp', 'sms sent inbox', 'sms sent inbox']
  await expect.poll(states).toEqual(all)
  expect(server.taken.map(({ to }) => to)).toEqual([['ama@shop.example']])
  const numbers = await metrics.registry.metrics()
  expect(numbers).toContain('tollgate_messages_total{medium="email",outcome="sent"} 1')
  expect(numbers).toContain('tollgate_messages_total{medium="email",outcome="dropped"} 1')
  expect(numbers).toContain('tollgate_messages_total{medium="sms",outcome="kept"} 2')
  expect(numbers).toContain('tollgate_messages_queued 0')
  expect(lines.join('')).toContain('Customers get no SMS')
  expect(lines.join('')).toContain('The recipient has had all the messages of 24 hours: 1.')
  expect(lines.join('')).not.toMatch(/ama@|1234567/)
  await post.stop()
  await server.stop()
})
