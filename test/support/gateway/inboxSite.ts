import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import type { Message } from '../../../src/core/message/message.ts'
import { mailboxOf } from '../../../src/core/message/messageRules.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import type { Env } from '../../../src/web/http/context.ts'
import { type InboxOptions, inboxRoutes } from '../../../src/web/inbox/inbox.tsx'
import { supportRoutes } from '../../../src/web/support/support.tsx'
import { signIn, testOperatorAuth } from './operatorAuth.ts'
import { roomyRules, testQuotas } from './supportSite.ts'

export type InboxSite = { url: string; stop(): void }
export type SiteOptions = Omit<InboxOptions, 'auth'> & { token?: string }

// The inbox on its own server, with the support pages whose stylesheet it shares. No worker sends anything. Every request
// is signed in, unless the test gives a token.
export async function inboxSite({ token, ...given }: SiteOptions): Promise<InboxSite> {
  const options = { ...given, auth: testOperatorAuth(token) }
  const app = new Hono<Env>({ strict: false })
  app.route(
    '/support',
    supportRoutes({ runtime: { ...options.runtime, ...quiet, ...testQuotas() }, auth: options.auth }),
  )
  app.route('/inbox', inboxRoutes(options))
  const pages = getRequestListener(app.fetch)
  const server = createServer((incoming, outgoing) => {
    signIn(incoming, options.auth)
    void pages(incoming, outgoing)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

const quiet = { formKey: Buffer.alloc(32, 7), clock: () => new Date(), wake: () => {}, rules: roomyRules }

let written = 0

// Stores a message about a payment, as the gateway does.
export async function writeMessage(db: Db, payment: Payment, changed: Partial<Message> = {}) {
  const m = {
    message_id: `m${String(++written).padStart(6, '0')}`,
    medium: 'sms',
    topic: 'paid',
    lang: 'en',
    created_at: new Date(),
    tries: 0,
    next_try_at: null,
    state: 'sent',
    words: '',
    messenger: null,
    sent_at: null,
    ended_at: null,
    ...changed,
  }
  const recipient = changed.recipient ?? (m.medium === 'sms' ? '+233241234567' : 'kofi@customer.example')
  const { merchant_id, mode, tx_reference } = payment
  await db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, created_at, tries,
      next_try_at, state, words, messenger, sent_at, ended_at, mailbox)
    values (${merchant_id}, ${m.message_id}, ${mode}, ${m.medium}, ${m.topic}, ${recipient}, ${m.lang},
      ${m.topic === 'exhausted' ? null : tx_reference}, ${m.created_at}, ${m.tries}, ${m.next_try_at}, ${m.state},
      ${m.words}, ${m.messenger}, ${m.sent_at}, ${m.ended_at}, ${mailboxOf(recipient)})`)
  return m.message_id
}
