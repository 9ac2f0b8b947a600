import { setTimeout as sleep } from 'node:timers/promises'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import smpp from '../../src/messengers/smpp.ts'
import { impatient, open, sms } from './smpp/bench.ts'
import { type Answer, join, type Submit } from './smsCentre.ts'
import { newTools, openMessenger } from './tools.ts'

describe('settings', () => {
  const good = { SMPP_URL: 'smpp://id:pass@127.0.0.1:1', SMPP_FROM: 'Tollgate' }

  test('no settings: no messenger; incomplete settings: none, with a warning', () => {
    const tools = newTools()
    expect(openMessenger(smpp, {}, tools)).toBeUndefined()
    expect(openMessenger(smpp, { ...good, SMPP_URL: '' }, tools)).toBeUndefined()
    expect(tools.warnings).toEqual([])
    expect(openMessenger(smpp, { ...good, SMPP_FROM: '' }, tools)).toBeUndefined()
    expect(tools.warnings).toEqual(['SMPP_URL is set and SMPP_FROM is not: no SMS is sent by SMPP.'])
  })

  for (const [wrong, words] of [
    [{ SMPP_URL: 'sms.example.com' }, 'SMPP_URL: must begin with smpp:// or ssmpp://.'],
    [{ SMPP_URL: 'smpp://a:b@' }, 'SMPP_URL: '],
    [{ SMPP_URL: 'smpp://a:b@h/x' }, 'SMPP_URL: nothing may follow'],
    [{ SMPP_URL: 'smpp://a:b@h?x=y' }, 'SMPP_URL: nothing may follow'],
    [{ SMPP_URL: 'smpp://h:2775' }, 'SMPP_URL: the system_id is missing'],
    [{ SMPP_URL: 'smpp://%00:b@h' }, 'SMPP_URL: the system_id is missing'],
    [{ SMPP_FROM: 'Much Too Long A Name' }, 'SMPP_FROM: must be'],
    [{ SMPP_FROM: 'Ɛkɔ' }, 'SMPP_FROM: must be'],
    [{ SMPP_RATE: 'fast' }, 'SMPP_RATE: must be a whole number'],
    [{ SMPP_RATE: '0' }, 'SMPP_RATE: must be a whole number'],
    [{ SMPP_WINDOW: '-1' }, 'SMPP_WINDOW: must be a whole number'],
    [{ SMPP_TLS_CA: 'nowhere.pem' }, 'SMPP_TLS_CA: must be the path'],
  ] as const)
    test(`${JSON.stringify(wrong)} throws at the start`, () => {
      expect(() => openMessenger(smpp, { ...good, ...wrong }, newTools())).toThrow(words)
    })

  for (const [from, sender, ton, npi] of [
    ['Tollgate', 'Tollgate', 5, 0],
    ['1404', '1404', 3, 0],
    ['+233241234567', '233241234567', 1, 1],
    ['233241234567', '233241234567', 1, 1],
  ] as const)
    test(`from ${from}: ton ${ton}, npi ${npi}`, async () => {
      const { centre, messenger } = await open({}, { SMPP_FROM: from, SMPP_SYSTEM_TYPE: 'pay' })
      await messenger.send(sms())
      expect(centre.submits).toMatchObject([{ from: sender, ton, npi, to: '233241234567' }])
      expect(centre.binds).toMatchObject([{ system_id: 'tollgate', password: 'pass', system_type: 'pay' }])
    })
})

describe('a submit', () => {
  for (const [name, status, sent, warned] of [
    ['throttled', 0x58, { state: 'retry', afterMs: 10_000 }, 0],
    ['queue full', 0x14, { state: 'retry', afterMs: 30_000 }, 0],
    [
      'invalid destination',
      0x0b,
      { state: 'rejected', reason: 'The SMS centre answered ESME_RINVDSTADR.' },
      0,
    ],
    ['invalid source', 0x0a, { state: 'rejected' }, 1],
    ['system error', 0x08, { state: 'retry' }, 1],
    ['submit failed', 0x45, { state: 'retry' }, 1],
    ['a vendor-specific status', 0x412, { state: 'retry', reason: 'The SMS centre answered 0x00000412.' }, 1],
    ['not understood', 'nack', { state: 'retry' }, 1],
  ] as const)
    test(`${name}: ${sent.state}, and the next one is sent`, async () => {
      const { centre, messenger, warnings } = await open({
        answer: (_, count) => (count === 1 ? status : 'ok'),
      })
      const message = sms()
      expect(await messenger.send(message)).toMatchObject(sent)
      expect(warnings).toHaveLength(warned)
      expect((await messenger.send(message)).state).toBe('sent')
      expect([centre.submits.length, centre.binds.length]).toEqual([1, 1])
    })

  test('a bind that the SMS centre has lost is made again', async () => {
    const { centre, messenger } = await open({ answer: (_, count) => (count === 1 ? 0x04 : 'ok') })
    const message = sms()
    expect((await messenger.send(message)).state).toBe('retry')
    expect((await messenger.send(message)).state).toBe('sent')
    expect([centre.submits.length, centre.binds.length]).toEqual([1, 2])
  })

  test('no answer: retried; a message that was accepted late is not sent again', async () => {
    const { centre, messenger } = await open({ answer: () => ({ late: 6000 }) }, {}, impatient)
    const message = sms()
    expect(await messenger.send(message)).toEqual({
      state: 'retry',
      reason: 'No answer from the SMS centre.',
    })
    await sleep(4500)
    expect(await messenger.send(message)).toEqual({ state: 'sent', provider_ref: 'm1' })
    expect(centre.submits).toHaveLength(1)
  })

  test('no answer at all: the outcome is unknown, so it is retried', async () => {
    const { centre, messenger } = await open(
      { answer: (_, count) => (count === 1 ? 'silent' : 'ok') },
      {},
      impatient,
    )
    const message = sms()
    expect((await messenger.send(message)).state).toBe('retry')
    expect((await messenger.send(message)).state).toBe('sent')
    expect(centre.submits).toHaveLength(2)
    expect(centre.binds).toHaveLength(1)
  })

  test('a connection lost with pending submits: these are retried, then sent; the others are sent once', async () => {
    const { centre, messenger, warnings } = await open({
      answer: (_, count) => (count === 5 ? 'cut' : count > 2 && count < 5 ? 'silent' : 'ok'),
    })
    const messages = Array.from({ length: 5 }, (_, i) => sms(`Message ${i}`))
    const sent = await Promise.all(messages.map(messenger.send))
    expect(sent.map(({ state }) => state)).toEqual(['sent', 'sent', 'retry', 'retry', 'retry'])
    for (const message of messages.slice(2)) expect((await messenger.send(message)).state).toBe('sent')
    const times = messages.map(({ text }) => centre.submits.filter(submit => submit.text === text).length)
    expect(times).toEqual([1, 1, 2, 2, 2])
    expect(warnings).toEqual(['SMPP: The connection is lost.'])
  })

  test('an answer without an id accepts the message', async () => {
    const { messenger } = await open({ ids: () => '' })
    expect(await messenger.send(sms())).toEqual({ state: 'sent', provider_ref: undefined })
  })

  for (const to of ['', '0241234567', '+233', '+233241234567\u0000', 'ama@example.com'])
    test(`${JSON.stringify(to)} is not a phone number`, async () => {
      const { centre, messenger } = await open()
      expect((await messenger.send(sms('x', to))).state).toBe('rejected')
      expect(centre.submitCount()).toBe(0)
    })
})

describe('texts', () => {
  const gsm = 'Cedi @£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ ¤¡ÄÖÑÜ§¿äöñüà ^{}\\[~]|€ "done".\n'
  for (const [name, text, parts, data_coding] of [
    ['short', 'You paid 25.00 GHS.', 1, 0],
    ['empty', '', 1, 0],
    ['the whole GSM alphabet', gsm, 1, 0],
    ['160 messages', 'x'.repeat(160), 1, 0],
    ['161 messages', 'x'.repeat(161), 2, 0],
    ['80 escaped', '€'.repeat(80), 1, 0],
    ['81 escaped', '€'.repeat(81), 2, 0],
    ['an escape at the seam', `${'x'.repeat(152)}€${'y'.repeat(20)}`, 2, 0],
    ['306 messages', 'x'.repeat(306), 2, 0],
    ['307 messages', 'x'.repeat(307), 3, 0],
    ['70 of the world', 'Ɛ'.repeat(70), 1, 8],
    ['71 of the world', 'Ɛ'.repeat(71), 2, 8],
    ['an emoji at the seam', `${'Ɛ'.repeat(66)}😀${'ɔ'.repeat(10)}`, 2, 8],
    ['a single escape character', 'a\u001bb', 1, 8],
    ['a curly apostrophe', 'You paid Kofi’s Shop.', 1, 8],
  ] as const)
    test(`${name}: ${parts} part(s)`, async () => {
      const { centre, messenger } = await open()
      const sent = await messenger.send(sms(text))
      expect(sent).toEqual({ state: 'sent', provider_ref: 'm1' })
      expect(centre.submits).toHaveLength(parts)
      expect(join(centre.submits)).toBe(text)
      expect(new Set(centre.submits.map(({ ref }) => ref)).size).toBe(1)
      expect(centre.submits.every(one => one.data_coding === data_coding && one.of === parts)).toBe(true)
      if (text && name !== 'a single escape character')
        expect(new SegmentedMessage(text).segmentsCount).toBe(parts)
    })

  test('a text that is too long is rejected', async () => {
    const { centre, messenger } = await open()
    expect((await messenger.send(sms('x'.repeat(1531)))).state).toBe('rejected')
    expect(centre.submitCount()).toBe(0)
  })

  for (const trouble of [0x58, 'silent'] as const)
    test(`only the part that failed (${trouble}) is sent again`, async () => {
      let failed = false
      const answer = ({ part }: Submit): Answer => {
        if (part !== 2 || failed) return 'ok'
        failed = true
        return trouble
      }
      const { centre, messenger } = await open({ answer }, {}, impatient)
      const message = sms('abc '.repeat(100))
      expect((await messenger.send(message)).state).toBe('retry')
      expect(await messenger.send(message)).toMatchObject({ state: 'sent' })
      expect(centre.submitCount()).toBe(4)
      const [first, second, third] = [1, 2, 3].map(part => centre.submits.filter(one => one.part === part))
      expect([first?.length, third?.length]).toEqual([1, 1])
      expect(join([first?.[0], second?.at(-1), third?.[0]] as Submit[])).toBe(message.text)
      expect(new Set(centre.submits.map(({ ref }) => ref)).size).toBe(1)
    })

  test('a rejected part rejects the message', async () => {
    const { messenger } = await open({ answer: ({ part }) => (part === 2 ? 0x0b : 'ok') })
    expect((await messenger.send(sms('abc '.repeat(100)))).state).toBe('rejected')
  })
})
