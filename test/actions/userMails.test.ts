import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendUserMails, waitingUserMails } from '../../src/actions/access/sendUserMails.ts'
import { linkEnd } from '../../src/core/access/userLink.ts'
import type { OutboundMessage, SendResult } from '../../src/core/message/messenger.ts'
import { newUserMailId } from '../../src/runtime/ids.ts'
import { addUserLink } from '../../src/store/access/userLinks.ts'
import { addUserMail } from '../../src/store/access/userMails.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { openMailServer } from '../messengers/mailServer.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { testGateway } from '../support/gateway/gateway.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const now = new Date('2026-05-31T10:00:00Z')
const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000)
const source = () => ({ db, formKey: Buffer.alloc(32), dashboardUrl: () => 'https://pay.example' })
const nasty = 'Ama\r\nBcc: everyone@evil.example\r\n\r\nhttps://evil.example'

async function queue(to: string, kind: 'alert' | 'invitation', details: Record<string, string>, lang = 'en') {
  const mail_id = newUserMailId()
  await addUserMail(db, { mail_id, email: to, lang, kind, details, created_at: now })
  return mail_id
}

async function addLink(link_id: string, email: string) {
  await addUserLink(db, {
    link_id,
    purpose: 'invitation',
    email,
    user_id: null,
    operator_role: null,
    merchant_id: 'm123456789',
    role: 'owner',
    outlets: null,
    invited_by: null,
    created_at: now,
    expires_at: linkEnd.invitation(now),
  })
}

const messenger = (answer: () => SendResult) => {
  const sent: OutboundMessage[] = []
  return { sent, send: async (message: OutboundMessage) => (sent.push(message), answer()) }
}
const waiting = async () => (await db.rows(sql`select mail_id from user_mails`)).length

test('a mail is sent once by two nodes at once, and again later if the mail server was busy', async () => {
  await queue('one@example.com', 'alert', { merchant: 'Ama Shop', change: 'keys', by: 'Ama' })
  const busy = messenger(() => ({ state: 'retry', reason: 'busy' }))
  await Promise.all([sendUserMails(source(), busy, now, 0), sendUserMails(source(), busy, now, 0)])
  expect(busy.sent.length).toBe(1)
  const open = messenger(() => ({ state: 'sent' }))
  await sendUserMails(source(), open, now, 0)
  expect(open.sent.length).toBe(0) // not due yet
  await sendUserMails(source(), open, later(1), 0)
  expect(open.sent.map(({ to, subject }) => [to, subject])).toEqual([
    ['one@example.com', 'Tollgate: A change at Ama Shop'],
  ])
  expect(open.sent[0]?.id).toBe(busy.sent[0]?.id)
  expect(await waiting()).toBe(0)
})

test('after a day of failures, and after a refusal for good, it is dropped', async () => {
  await queue('two@example.com', 'alert', { merchant: 'Ama Shop', change: 'team', by: 'Ama' })
  const busy = messenger(() => ({ state: 'retry', reason: 'busy' }))
  for (let minutes = 0; minutes <= 25 * 60; minutes += 30)
    await sendUserMails(source(), busy, later(minutes), 0)
  expect(busy.sent.length).toBeLessThan(35)
  expect(await waiting()).toBe(0)
  await queue('three@example.com', 'alert', { change: 'team' })
  await sendUserMails(
    source(),
    messenger(() => ({ state: 'rejected', reason: 'no' })),
    now,
    0,
  )
  expect(await waiting()).toBe(0)
})

test('a mail whose link was used or revoked is not sent; without a messenger the inbox has it', async () => {
  await addLink('aaaaaaaaaaaaaaaa', 'four@example.com')
  await queue(
    'four@example.com',
    'invitation',
    { link_id: 'aaaaaaaaaaaaaaaa', by: nasty, merchant: nasty },
    'fr',
  )
  const [shown] = await waitingUserMails(source(), now)
  expect(shown?.text).toMatch(/https:\/\/pay\.example\/dashboard\/invitation\/a{16}\.[\w-]{43}\n/)
  expect(shown?.subject).toMatch(/^Tollgate: Vous êtes invité dans l’équipe de Ama Bcc: [^\r\n]*$/)
  expect(shown?.text).not.toMatch(/https?:\/\/evil|evil\.example/) // no link that a name chose
  expect(shown?.html).not.toMatch(/https?:\/\/evil|evil\.example/)
  await db.rows(sql`delete from user_links`)
  const open = messenger(() => ({ state: 'sent' }))
  await sendUserMails(source(), open, now, 0)
  expect(open.sent).toEqual([])
  expect(await waiting()).toBe(0)
})

test('a gateway sends them through its mail server, and a name adds no header and no recipient', async () => {
  const server = await openMailServer()
  const gateway = await testGateway({ SMTP_URL: server.url, SMTP_FROM: 'Tollgate <pay@example.com>' })
  await addUserMail(gateway.db, {
    mail_id: newUserMailId(),
    email: 'five@example.com',
    lang: 'en',
    kind: 'alert',
    details: { merchant: nasty, change: 'settings', by: nasty },
    created_at: new Date(),
  })
  await expect.poll(() => server.taken.length, { timeout: 15_000 }).toBe(1)
  const [taken] = server.taken
  expect(taken?.to).toEqual(['five@example.com'])
  expect(taken?.mail.headers.some(({ key }) => key === 'bcc')).toBe(false)
  expect(taken?.mail.subject).toContain('A change at Ama Bcc: everyone@evil')
  await gateway.stop()
  await server.stop()
})
