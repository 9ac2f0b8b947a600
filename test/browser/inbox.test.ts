import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type InboxSite, inboxSite, writeMessage } from '../support/gateway/inboxSite.ts'
import { after, minutes, no, seconds, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

const paintMs = 300

let browser: TestBrowser
let shop: TestShop
let site: InboxSite
let payment: Payment

beforeAll(async () => {
  shop = await openShop()
  const start = after(-minutes(60), new Date())
  shop.setNow(start)
  const ama = await shop.addMerchant('Ama Shop')
  payment = await shop.ask(ama, { description: 'Two straw hats, order 1042' }, 'test')
  await shop.try(payment, no)
  shop.setNow(after(minutes(2), start))
  payment = await shop.hear(payment, yes)
  await writeMessages(start)
  site = await inboxSite({ runtime: shop.runtime })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  site?.stop()
  await shop.stop()
})

async function writeMessages(start: Date) {
  const { db } = shop
  const long = await shop.ask(await shop.addMerchant('Épicerie Ɔdɔ with a rather long name of its own'), {
    description: 'x'.repeat(300),
  })
  const failed = { topic: 'failed', created_at: after(seconds(5), start) } as const
  await writeMessage(db, payment, { ...failed, lang: 'fr', state: 'delivered', sent_at: failed.created_at })
  await writeMessage(db, payment, {
    ...failed,
    lang: 'fr',
    medium: 'email',
    state: 'sent',
    messenger: 'smtp',
    sent_at: failed.created_at,
  })
  const paid = { created_at: after(minutes(3), start) }
  await writeMessage(db, payment, {
    ...paid,
    state: 'queued',
    tries: 3,
    words: 'The network is busy.',
    next_try_at: after(minutes(9), start),
  })
  await writeMessage(db, payment, {
    ...paid,
    medium: 'email',
    state: 'dropped',
    words: 'The mailbox does not exist.',
  })
  await writeMessage(db, long, {
    topic: 'cancelled',
    created_at: after(minutes(4), start),
    state: 'queued',
    next_try_at: after(minutes(5), start),
  })
  await writeMessage(db, long, { topic: 'cancelled', medium: 'email', created_at: after(minutes(5), start) })
  await exhaust(long, start)
  await writeMessage(db, long, { topic: 'exhausted', medium: 'email', created_at: after(minutes(6), start) })
}

const exhaust = ({ merchant_id, tx_reference, mode }: Payment, at: Date) =>
  shop.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
      last_result, exhausted_at)
    select ${merchant_id}, ${tx_reference}, n, ${mode}, 'https://shop.example/payments/notifications', 'lane', 'post',
      ${at}::timestamptz, ${at}, 'other_2xx', ${at} from generate_series(1, 12) as n`)

const screens: [string, CustomerOptions][] = [
  ['the smallest phone', { width: 320 }],
  ['a phone at night', { dark: true }],
  ['a desk', { width: 1280, height: 800 }],
  ['a desk at night', { width: 1280, height: 800, dark: true }],
]
declare const document: any // runs in the browser

// Frames beyond the window are not painted, so the window becomes as high as the page.
async function unroll(page: Page) {
  const height: number = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ width: page.viewportSize()?.width ?? 0, height })
  await page.waitForTimeout(paintMs)
}

const pages: [string, string][] = [
  ['list', '/inbox'],
  ['end', '/inbox?before=2020-01-01T00:00:00.000Z~a~m'],
]

for (const [screen, options] of screens)
  for (const [name, path] of pages)
    test(`the ${name} page can be used on ${screen}`, async () => {
      const { page, faults, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
      onTestFinished(close)
      await page.goto(site.url + path)
      for (const frame of await page.locator('iframe').all()) {
        await frame.scrollIntoViewIfNeeded()
        await frame.contentFrame().locator('h1').waitFor()
      }
      await unroll(page)
      await shoot(`inbox-${name}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect(await smallTargets(page)).toEqual([])
      expect(faults).toEqual([])
    })

for (const [screen, options] of screens)
  test(`a mail can be read on ${screen}`, async () => {
    const { page, faults, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
    onTestFinished(close)
    const inbox = await fetch(`${site.url}/inbox?limit=100`, { headers: { accept: 'application/json' } })
    const { messages } = (await inbox.json()) as { messages: Record<string, string>[] }
    const mails = messages.filter(({ kind }) => kind === 'email')
    expect(mails).toHaveLength(4)
    for (const { merchant_id, id, topic } of mails) {
      await page.goto(`${site.url}/inbox/${merchant_id}/${id}/html`)
      await shoot(`mail-${topic}`)
      expect((await axeFaults(page)).filter(isOfMail)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect(await smallTargets(page)).toEqual([])
    }
    expect(faults).toEqual([])
  })

// A mail is shown inside a mail reader, so it has no landmarks.
const isOfMail = (fault: string) => !/^(region|landmark-one-main) /.test(fault)

test('the link of a mail opens the payment outside the frame', async () => {
  const { page, close } = await browser.newCustomer({ width: 1280 })
  onTestFinished(close)
  await page.goto(`${site.url}/inbox`)
  const opened = page.context().waitForEvent('page')
  await page.locator('iframe').last().contentFrame().getByRole('link').click()
  expect((await opened).url()).toMatch(/chrome-error|\/checkout\//) // its name leads nowhere in a test
  expect(page.url()).toBe(`${site.url}/inbox`)
})

test('an empty inbox explains how to fill it', async () => {
  await shop.db.rows(sql`delete from messages`)
  for (const [, options] of screens) {
    const { page, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
    onTestFinished(close)
    await page.goto(`${site.url}/inbox`)
    await shoot('inbox-empty')
    expect(await axeFaults(page)).toEqual([])
    expect(await overflow(page)).toBe(false)
    expect(await smallTargets(page)).toEqual([])
  }
})
