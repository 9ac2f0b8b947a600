import { describe, expect, test } from 'vitest'
import smtp from '../../src/messengers/smtp.ts'
import { from, open } from './smtp/bench.ts'
import { newMessage, newTools, openMessenger } from './tools.ts'

describe('settings', () => {
  test('no settings: no messenger; incomplete settings: none, with a warning', () => {
    const tools = newTools()
    expect(openMessenger(smtp, {}, tools)).toBeUndefined()
    expect(openMessenger(smtp, { SMTP_URL: '' }, tools)).toBeUndefined()
    expect(openMessenger(smtp, { SMTP_FROM: from }, tools)).toBeUndefined()
    expect(tools.warnings).toEqual([])
    expect(openMessenger(smtp, { SMTP_URL: 'smtp://localhost' }, tools)).toBeUndefined()
    expect(tools.warnings).toEqual(['SMTP_URL is set and SMTP_FROM is not: no email is sent.'])
  })

  for (const [wrong, words] of [
    [{ SMTP_URL: 'mail.example.com' }, 'SMTP_URL: must begin with smtp:// or smtps://.'],
    [{ SMTP_URL: 'https://mail.example.com' }, 'SMTP_URL: must begin with'],
    [{ SMTP_URL: 'smtp://' }, 'SMTP_URL: '],
    [{ SMTP_URL: 'smtp://u:p@mail.example.com/inbox' }, 'SMTP_URL: nothing may follow the port'],
    [{ SMTP_URL: 'smtp://u:p%@mail.example.com' }, 'SMTP_URL: a % in the user'],
    [{ SMTP_URL: 'smtp://mail.example.com?tls=no' }, 'SMTP_URL: tls must be'],
    [{ SMTP_FROM: 'Tollgate' }, 'SMTP_FROM: must be like'],
    [{ SMTP_FROM: 'a@b.c, d@e.f' }, 'SMTP_FROM: must be like'],
    [{ SMTP_FROM: 'A\r\nBcc: x@y.z <a@b.c>' }, 'SMTP_FROM: must be like'],
    [{ SMTP_TLS_CA: 'nowhere.pem' }, 'SMTP_TLS_CA: must be the path of a PEM file'],
    [{ SMTP_TLS_CA: 'package.json' }, 'SMTP_TLS_CA: must be the path of a PEM file'],
  ] as const) {
    test(`${JSON.stringify(wrong)} throws at the start`, () => {
      const settings = { SMTP_URL: 'smtp://mail.example.com', SMTP_FROM: from, ...wrong }
      expect(() => openMessenger(smtp, settings, newTools())).toThrow(words)
    })
  }

  test('a password without encryption causes a warning', () => {
    const tools = newTools()
    openMessenger(smtp, { SMTP_URL: 'smtp://u:p@mail.example.com?tls=off', SMTP_FROM: from }, tools)
    expect(tools.warnings).toEqual(['SMTP_URL: the password travels without encryption.'])
  })
})

describe('the mail', () => {
  test('has text and HTML, the headers and one recipient', async () => {
    const { server, messenger } = await open()
    const message = newMessage()
    const sent = await messenger.send(message)
    expect(sent).toEqual({ state: 'sent', provider_ref: `<${message.id}@shop.example.com>` })
    const [{ from: sender, to, mail }] = server.taken as [any]
    expect([sender, to]).toEqual(['pay@shop.example.com', ['ama@example.com']])
    expect(mail.headers.find(({ key }: any) => key === 'content-type').value).toMatch(
      /^multipart\/alternative/,
    )
    expect(mail.from).toMatchObject({ name: 'Tollgate', address: 'pay@shop.example.com' })
    expect(mail.to).toMatchObject([{ address: 'ama@example.com' }])
    expect(mail.subject).toBe(message.subject)
    expect(mail.text.trim()).toBe(message.text)
    expect(mail.html.trim()).toBe(message.html)
    expect(mail.messageId).toBe(`<${message.id}@shop.example.com>`)
    expect(Math.abs(Date.now() - Date.parse(mail.date))).toBeLessThan(60_000)
    expect(mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    )
  })

  test('a retry has the same Message-ID', async () => {
    const { server, messenger } = await open()
    const message = newMessage({ id: 'not fit for a header <\r\n>' })
    expect(await messenger.send(message)).toEqual(await messenger.send(message))
    expect(new Set(server.taken.map(({ mail }) => mail.messageId)).size).toBe(1)
  })

  const long = `${'Ünïcödé '.repeat(40)}end`
  for (const subject of [
    'Paid\r\nBcc: eve@example.com',
    'Paid\nBcc: eve@example.com\n\n<script>alert(1)</script>',
    'Paid\rX: y',
    'Paid\u2028Bcc: eve@example.com',
    'Paid\u0000\u0001\u007f\u0085Bcc: eve@example.com',
    '=?utf-8?q?Paid=0d=0aBcc:_eve@example.com?=',
    '<b>Kofi</b> & “Söhne” 😀 شكرا',
    'half a pair \ud800',
    long,
    'x'.repeat(5000),
    '',
  ]) {
    test(`subject ${JSON.stringify(subject.slice(0, 60))} stays a subject`, async () => {
      const { server, messenger } = await open()
      expect(
        (await messenger.send(newMessage({ subject, text: `${subject}\r\n.\r\nRSET`, html: subject }))).state,
      ).toBe('sent')
      expect(server.taken).toHaveLength(1)
      const [{ to, raw, mail }] = server.taken as [any]
      expect(to).toEqual(['ama@example.com'])
      expect(mail.headers.map(({ key }: any) => key).sort()).toEqual(
        ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to']
          .filter(key => key !== 'subject' || subject !== '')
          .concat(
            mail.headers.some(({ key }: any) => key === 'content-transfer-encoding')
              ? ['content-transfer-encoding']
              : [],
          )
          .sort(),
      )
      expect(mail.bcc ?? []).toEqual([])
      expect(mail.text).toContain('RSET')
      const head = raw.slice(0, raw.indexOf('\r\n\r\n')).split('\r\n')
      expect(Math.max(...head.map((line: string) => line.length))).toBeLessThan(999)
    })
  }

  for (const to of [
    'ama@example.com\r\nRCPT TO:<eve@example.com>',
    'ama@example.com\nBcc: eve@example.com',
    'ama@example.com, eve@example.com',
    'ama@example.com;eve@example.com',
    'Ama <ama@example.com>',
    '<ama@example.com>',
    '"ama@x"@example.com',
    'ama@example.com>',
    'ama@example.com ',
    'ama@@example.com',
    'ama@example.com\u0000',
    'friends: ama@example.com;',
    'ama',
    'ama@',
    '@example.com',
    'ama@[127.0.0.1]',
    `${'a'.repeat(250)}@example.com`,
    '',
  ]) {
    test(`recipient ${JSON.stringify(to.slice(0, 60))} is rejected`, async () => {
      const { server, messenger } = await open()
      expect(await messenger.send(newMessage({ to }))).toEqual({
        state: 'rejected',
        reason: 'This is not an email address.',
      })
      expect(server.counts.connections).toBe(0)
    })
  }

  for (const to of ["o'brien+tag@example.com", 'ama.mensah@mail.example.co', 'ama@bücher.example'])
    test(`recipient ${to} is accepted`, async () => {
      const { server, messenger } = await open()
      expect((await messenger.send(newMessage({ to }))).state).toBe('sent')
      expect(server.taken[0]?.to).toHaveLength(1)
    })

  test('without HTML it is plain text', async () => {
    const { server, messenger } = await open()
    await messenger.send(newMessage({ html: '' }))
    expect(server.taken[0]?.raw).toMatch(/^Content-Type: text\/plain/m)
    expect(server.taken[0]?.raw).not.toContain('multipart')
  })
})
