import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../../net/certificate.ts'
import { openCentre } from '../smsCentre.ts'
import { until } from '../tools.ts'
import { connect, open, sms } from './bench.ts'

const frame = (...words: number[]) => {
  const bytes = Buffer.alloc(words.length * 4)
  for (const [i, word] of words.entries()) bytes.writeUInt32BE(word, i * 4)
  return bytes
}

describe('the bind', () => {
  test('accepted: one connection for many messages, each once', async () => {
    const { centre, messenger } = await open()
    const messages = Array.from({ length: 30 }, (_, i) => sms(`Message ${i}`))
    const sent = await Promise.all(messages.map(messenger.send))
    expect(new Set(sent.map(one => one.state === 'sent' && one.provider_ref))).toEqual(
      new Set(centre.submits.map(({ id }) => id)),
    )
    expect(new Set(centre.submits.map(({ text }) => text)).size).toBe(30)
    expect([centre.submits.length, centre.binds.length]).toEqual([30, 1])
  })

  test('refused: retried, with one warning; sent as soon as the password is right', async () => {
    const { centre, messenger, warnings } = await open({ password: 'other' }, {}, { readyMs: 600 })
    const message = sms()
    expect((await messenger.send(message)).state).toBe('retry')
    expect(centre.binds.length).toBeGreaterThan(1)
    expect(warnings).toEqual(['SMPP: The bind was refused: ESME_RINVPASWD.'])
    centre.options.password = 'pass'
    expect((await messenger.send(message)).state).toBe('sent')
    expect(centre.submits).toHaveLength(1)
  })

  test('no server: the messenger starts, and connects as soon as there is one', async () => {
    const gone = await openCentre()
    await gone.stop()
    const { messenger, warnings } = connect(gone.url, {}, { readyMs: 300 })
    const message = sms()
    expect(await messenger.send(message)).toEqual({
      state: 'retry',
      reason: 'There is no connection to the SMS centre.',
    })
    expect(warnings).toEqual([expect.stringContaining('ECONNREFUSED')])
    const centre = await openCentre({}, gone.port)
    onTestFinished(() => centre.stop())
    await until(() => centre.binds.length > 0)
    expect((await messenger.send(message)).state).toBe('sent')
    expect(centre.submits).toHaveLength(1)
  })

  for (const [name, host, trusted, state] of [
    ['of a server that we trust', 'localhost', true, 'sent'],
    ['that is self-signed', 'localhost', false, 'retry'],
    ['for another name', '127.0.0.1', true, 'retry'],
  ] as const)
    test(`over TLS, with a certificate ${name}: ${state}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const { key, cert } = makeCertificate('localhost')
      const SMPP_TLS_CA = join(folder, 'ca.pem')
      writeFileSync(SMPP_TLS_CA, cert)
      const centre = await openCentre({ key, cert })
      onTestFinished(() => centre.stop())
      const settings = trusted ? { SMPP_TLS_CA } : {}
      const url = `ssmpp://tollgate:pass@${host}:${centre.port}`
      const { messenger } = connect(url, settings, { readyMs: state === 'sent' ? 3000 : 500 })
      expect((await messenger.send(sms())).state).toBe(state)
      expect(centre.binds).toHaveLength(state === 'sent' ? 1 : 0)
    })

  test('reconnecting has pauses', async () => {
    const { centre } = await open({ bindStatus: 0x0d }, {}, { firstPauseMs: 200, maxPauseMs: 10_000 })
    await sleep(1000)
    expect(centre.binds.length).toBeLessThanOrEqual(4)
  })

  test('a server that does not answer the bind is disconnected', async () => {
    const { centre, messenger } = await open({}, {}, { connectMs: 200, readyMs: 300 })
    for (const session of centre.sessions) session.removeAllListeners('bind_transceiver')
    expect(['retry', 'sent']).toContain((await messenger.send(sms())).state)
  })
})

describe('the connection', () => {
  test('enquire_link in both directions', async () => {
    const { centre, messenger } = await open({}, {}, { idleMs: 100 })
    await until(() => centre.commands.filter(command => command === 'enquire_link').length > 2)
    expect((await centre.ask('enquire_link')).command).toBe('enquire_link_resp')
    expect((await messenger.send(sms())).state).toBe('sent')
    expect(centre.binds).toHaveLength(1)
  })

  test('a request of the server with our sequence number is no response', async () => {
    const { centre, messenger } = await open({ answer: () => ({ late: 300 }) })
    const sending = messenger.send(sms())
    await until(() => centre.submits.length > 0)
    for (const sequence_number of [1, 2, 3, 4]) {
      await centre.ask('enquire_link', { sequence_number })
      await centre.ask('deliver_sm', { sequence_number, short_message: 'hello' })
    }
    expect(await sending).toEqual({ state: 'sent', provider_ref: 'm1' })
    expect(centre.submits).toHaveLength(1)
  })

  test('a silent server is disconnected and connected again', async () => {
    const { centre, messenger, warnings } = await open({}, {}, { idleMs: 100 })
    await until(() => centre.binds.length === 1)
    for (const session of centre.sessions) session.removeAllListeners('enquire_link')
    await until(() => centre.binds.length === 2)
    expect(warnings).toEqual(['SMPP: The SMS centre does not answer any more.'])
    expect((await messenger.send(sms())).state).toBe('sent')
  })

  test('unbound by the server: answered, and bound again for the next message', async () => {
    const { centre, messenger } = await open()
    await until(() => centre.binds.length === 1)
    expect((await centre.ask('unbind')).command).toBe('unbind_resp')
    expect((await messenger.send(sms())).state).toBe('sent')
    expect([centre.submits.length, centre.binds.length]).toEqual([1, 2])
  })

  for (const [name, bytes, binds] of [
    ['a web page', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n<html>'), 2],
    ['zeros', Buffer.alloc(64), 2],
    ['a length of four', frame(4, 4, 4, 4), 2],
    ['a huge length', frame(0xffffffff, 5, 0, 1), 2],
    ['an unknown command', frame(16, 0x7777, 0, 1), 1],
    ['an unrequested response', frame(16, 0x80000004, 0, 99_999), 1],
    ['a deliver_sm that breaks off', frame(18, 5, 0, 7).subarray(0, 16), 1],
    [
      'a tag without its value',
      Buffer.concat([frame(16 + 17 + 4, 5, 0, 7), Buffer.alloc(17), Buffer.from([4, 0x27, 0, 1])]),
      1,
    ],
    ['an outbind', Buffer.concat([frame(18, 0x0b, 0, 1), Buffer.alloc(2)]), 1],
  ] as const)
    test(`${name}: no crash, ${binds === 1 ? 'the connection stays' : 'a new connection'}`, async () => {
      const { centre, messenger } = await open()
      await until(() => centre.binds.length === 1)
      centre.raw().write(bytes)
      if (name === 'a deliver_sm that breaks off') centre.raw().write(Buffer.alloc(2))
      await sleep(50)
      expect((await messenger.send(sms())).state).toBe('sent')
      expect([centre.submits.length, centre.binds.length]).toEqual([1, binds])
    })

  test('bytes that arrive one by one', async () => {
    const { centre, receipts } = await open()
    await until(() => centre.binds.length === 1)
    const body = Buffer.concat([
      Buffer.alloc(7),
      Buffer.from([4]),
      Buffer.alloc(8),
      Buffer.from([20]),
      Buffer.from('id:m9   stat:DELIVRD'),
    ])
    const bytes = Buffer.concat([frame(16 + body.length, 5, 0, 7), body])
    for (const byte of bytes) {
      centre.raw().write(Buffer.from([byte]))
      await sleep(1)
    }
    await until(() => receipts.length > 0)
    expect(receipts).toMatchObject([{ provider_ref: 'm9' }])
  })

  test('a centre that restarts: no message is lost, none is sent twice', async () => {
    const centre = await openCentre()
    const { messenger } = connect(centre.url)
    expect((await messenger.send(sms())).state).toBe('sent')
    await centre.stop()
    await sleep(50) // a message on a line that is being lost would be tried again, see above
    const sending = Promise.all(Array.from({ length: 5 }, (_, i) => messenger.send(sms(`Message ${i}`))))
    await sleep(300)
    const again = await openCentre({}, centre.port)
    onTestFinished(() => again.stop())
    expect((await sending).map(({ state }) => state)).toEqual(Array(5).fill('sent'))
    expect([centre.submits.length, again.submits.length]).toEqual([1, 5])
  })

  test('the rate limit holds', async () => {
    const { centre, messenger } = await open({}, { SMPP_RATE: '20' })
    await Promise.all(Array.from({ length: 21 }, () => messenger.send(sms())))
    const span = (centre.submits.at(-1)?.at ?? 0) - (centre.submits[0]?.at ?? 0)
    expect(span).toBeGreaterThan(800) // twenty gaps of 50 ms
  })

  test('the window limit holds', async () => {
    const { centre, messenger } = await open({ answer: () => ({ late: 50 }) }, { SMPP_WINDOW: '3' })
    const sent = await Promise.all(Array.from({ length: 15 }, () => messenger.send(sms())))
    expect(sent.every(({ state }) => state === 'sent')).toBe(true)
    expect(centre.mostWaiting()).toBe(3)
  })

  test('a throttling reply lowers the rate', async () => {
    const { centre, messenger } = await open(
      { answer: (_, count) => (count === 1 ? 0x58 : 'ok') },
      { SMPP_RATE: '100' },
      { slowMs: 5000 },
    )
    const before = performance.now()
    await messenger.send(sms())
    await Promise.all(Array.from({ length: 11 }, () => messenger.send(sms())))
    const span = (centre.submits.at(-1)?.at ?? 0) - before
    expect(span).toBeGreaterThan(1000 + 150) // a breath, and ten gaps of 20 ms instead of 10; later is as well
  })

  test('closing waits for pending submits, unbinds, and accepts no more', async () => {
    const { centre, messenger } = await open({ answer: () => ({ late: 200 }) })
    const sending = messenger.send(sms())
    await until(() => centre.submits.length > 0)
    await messenger.close()
    expect((await sending).state).toBe('sent')
    expect(centre.commands.at(-1)).toBe('unbind')
    expect((await messenger.send(sms())).state).toBe('retry')
    await until(() => centre.sessions.size === 0)
    await sleep(300)
    expect(centre.binds).toHaveLength(1)
  })

  test('closing during a pause: no connection is opened', async () => {
    const gone = await openCentre()
    await gone.stop()
    const { messenger, warnings } = connect(gone.url, {}, { firstPauseMs: 10_000, maxPauseMs: 10_000 })
    await until(() => warnings.length > 0)
    const centre = await openCentre({}, gone.port)
    onTestFinished(() => centre.stop())
    await messenger.close()
    await sleep(300)
    expect(centre.binds).toHaveLength(0)
  })

  test('closing does not wait for a server that hangs or does not exist', async () => {
    const { centre, messenger } = await open({ answer: () => 'silent' }, {}, { answerMs: 20_000 })
    const sending = messenger.send(sms())
    await until(() => centre.submits.length > 0)
    for (const session of centre.sessions) session.removeAllListeners('unbind')
    const started = performance.now()
    await messenger.close()
    expect((await sending).state).toBe('retry')
    const lost = connect('smpp://a:b@127.0.0.1:1', {}, { readyMs: 20_000 })
    const waiting = lost.messenger.send(sms())
    await lost.messenger.close()
    expect((await waiting).state).toBe('retry')
    expect(performance.now() - started).toBeLessThan(5000)
  })
})
