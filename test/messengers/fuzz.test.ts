import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanReason } from '../../src/messengers/common/warnings.ts'
import { createIdMatcher, readReceipt } from '../../src/messengers/smpp/receipts.ts'
import { openSmppConnection } from '../../src/messengers/smpp/connection.ts'
import { fillTemplate } from '../../src/messengers/smsHttp/settings.ts'
import { open } from './smtp/bench.ts'
import { newMessage } from './tools.ts'

const nasty = fc.constantFrom(
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\u2028',
  'Bcc: eve@example.com',
  '<b>',
  '"',
  ',',
  '\ud800',
  '=?utf-8?q?=0a?=',
)
const text = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 12 })
  .map(parts => parts.join(''))
const usual = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

test('with any subject and text, a mail has the usual headers and one recipient', async () => {
  const { server, messenger } = await open()
  await fc.assert(
    fc.asyncProperty(text, text, text, async (subject, body, html) => {
      server.taken.length = 0
      expect((await messenger.send(newMessage({ subject, text: body, html }))).state).toBe('sent')
      expect(server.taken.map(({ to }) => to)).toEqual([['ama@example.com']])
      const keys = server.taken[0]?.mail.headers.map(({ key }) => key) ?? []
      expect(keys.filter(key => !usual.includes(key) && key !== 'content-transfer-encoding')).toEqual([])
      expect(new Set(keys).size).toBe(keys.length)
    }),
    { numRuns: 60 },
  )
})

test('any address is one recipient or none', async () => {
  const { server, messenger } = await open()
  await fc.assert(
    fc.asyncProperty(text, fc.boolean(), async (junk, before) => {
      server.taken.length = 0
      const to = before ? `${junk}ama@example.com` : `ama@example.com${junk}`
      const { state } = await messenger.send(newMessage({ to }))
      expect(server.taken.map(taken => taken.to.length)).toEqual(state === 'sent' ? [1] : [])
      expect(/[\r\n\0,<>" ]/.test(to) && state === 'sent').toBe(false)
    }),
    { numRuns: 100 },
  )
})

const commands = [0, 1, 4, 5, 6, 9, 0x15, 0x103, 0x112, 0x80000000, 0x80000004, 0x80000005, 0x80000015]
const frame = fc
  .tuple(fc.constantFrom(...commands), fc.nat(20), fc.uint8Array({ maxLength: 80 }), fc.boolean())
  .map(([command, sequence, body, isShort]) => {
    const head = Buffer.alloc(16)
    head.writeUInt32BE(16 + body.length + (isShort ? 1 : 0), 0)
    head.writeUInt32BE(command, 4)
    head.writeUInt32BE(sequence, 12)
    return Buffer.concat([head, body])
  })

test('with any bytes on an SMPP connection nothing is thrown', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(frame, fc.uint8Array({ maxLength: 40 })), { maxLength: 10 }), frames => {
      const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as any
      const connection = openSmppConnection(socket, readReceipt)
      connection.request('enquire_link').catch(() => {})
      for (const bytes of frames) socket.emit('data', Buffer.from(bytes))
      connection.end('enough')
    }),
    { numRuns: 500 },
  )
})

test('a server that sends requests and never reads is disconnected', () => {
  const socket = new Duplex({ read() {}, write() {} }) as any
  const connection = openSmppConnection(socket, () => {})
  const enquiry = Buffer.from('00000010000000150000000000000001', 'hex')
  for (let i = 0; i < 20_000 && connection.isOpen; i++) socket.emit('data', enquiry)
  expect(connection.isOpen).toBe(false)
})

test('an id is found again in any form, and an unknown one stays as it is', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0x10000000n, max: 0xffffffffffn }), fc.string(), (value, other) => {
      const refs = createIdMatcher()
      refs.add(value.toString(16))
      expect(refs.find(value.toString(16).toUpperCase())).toBe(value.toString(16))
      expect(refs.find(value.toString())).toBe(value.toString(16))
      expect(createIdMatcher().find(other)).toBe(other)
    }),
  )
})

test('a template filled with anything is JSON, a form, XML', () => {
  fc.assert(
    fc.property(text, value => {
      const values = { text: value.toWellFormed(), to: 'x' }
      expect(JSON.parse(fillTemplate('{"a": "{text}", "b": "{to}"}', values, 'json'))).toEqual({
        a: values.text,
        b: 'x',
      })
      const form = new URLSearchParams(fillTemplate('a={text}&b={to}', values, 'form'))
      expect(Object.fromEntries(form)).toEqual({ a: values.text, b: 'x' })
      expect(fillTemplate('<a b="{text}">{to}</a>', values, 'xml')).toMatch(/^<a b="[^<>"]*">x<\/a>$/)
    }),
  )
})

test('a text for the log is one short line without addresses', () => {
  fc.assert(
    fc.property(text, words => {
      const tidied = cleanReason(`${words} ama@example.com +233241234567`)
      expect(tidied.length).toBeLessThanOrEqual(200)
      expect(tidied).not.toMatch(/[\p{Cc}]|ama@|241234567/u)
    }),
  )
})
