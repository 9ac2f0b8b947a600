import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../../net/certificate.ts'
import { openFaultyServer, openMailServer } from '../mailServer.ts'
import { newMessage } from '../tools.ts'
import { connect, open, testTimes } from './bench.ts'

const onAuth = (auth: any, _session: unknown, done: any) =>
  auth.username === 'user' && auth.password === 'p@ss/word#1'
    ? done(null, { user: 'user' })
    : done(Object.assign(new Error('wrong password'), { responseCode: 535 }))
const guarded = { authOptional: false, allowInsecureAuth: true, onAuth }

describe('authentication', () => {
  test('user and password', async () => {
    const { server, messenger } = await open(guarded, 'user:p%40ss%2Fword%231@')
    expect((await messenger.send(newMessage())).state).toBe('sent')
    expect(server.taken).toHaveLength(1)
  })

  test('a wrong password: retried, with one warning', async () => {
    const { server, messenger, warnings } = await open(guarded, 'user:wrong-secret@')
    const message = newMessage()
    for (let i = 0; i < 3; i++)
      expect(await messenger.send(message)).toMatchObject({
        state: 'retry',
        reason: expect.stringContaining('535'),
      })
    expect(warnings).toEqual([expect.stringContaining('535')])
    expect(warnings.join()).not.toContain('wrong-secret')
    expect(server.taken).toEqual([])
  })

  test('a missing password: retried', async () => {
    const { messenger, warnings } = await open(guarded)
    expect((await messenger.send(newMessage())).state).toBe('retry')
    expect(warnings).toEqual([expect.stringContaining('530')])
  })
})

describe('encryption', () => {
  const { key, cert } = makeCertificate('localhost')
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const SMTP_TLS_CA = join(folder, 'ca.pem')
  writeFileSync(SMTP_TLS_CA, cert)
  const strangerCa = join(folder, 'stranger.pem')
  writeFileSync(strangerCa, makeCertificate('localhost').cert)

  for (const [name, secure, url, ca, state] of [
    ['from the first byte', true, 'smtps://localhost', SMTP_TLS_CA, 'sent'],
    ['by STARTTLS', false, 'smtp://localhost?tls=required', SMTP_TLS_CA, 'sent'],
    ['a self-signed certificate', true, 'smtps://localhost', '', 'retry'],
    ['the same by STARTTLS', false, 'smtp://localhost?tls=required', '', 'retry'],
    ['a certificate of another signer', true, 'smtps://localhost', strangerCa, 'retry'],
    ['one for another name', true, 'smtps://127.0.0.1', SMTP_TLS_CA, 'retry'],
  ] as const) {
    test(`${name}: ${state}`, async () => {
      const secured: boolean[] = []
      const server = await openMailServer({
        secure,
        key,
        cert,
        onMailFrom: (_address, session, done) => {
          secured.push(session.secure)
          done()
        },
      })
      onTestFinished(() => server.stop())
      const address = url.replace(/(?=\?|$)/, `:${server.port}`)
      const { messenger, warnings } = connect(address, testTimes, { SMTP_TLS_CA: ca })
      expect((await messenger.send(newMessage())).state).toBe(state)
      expect(secured).toEqual(state === 'sent' ? [true] : [])
      expect(warnings).toHaveLength(state === 'sent' ? 0 : 1)
    })
  }

  test('a server without encryption gets neither the password nor the message', async () => {
    const faulty = await openFaultyServer('EHLO', [])
    onTestFinished(() => faulty.stop())
    const { messenger, warnings } = connect(faulty.url.replace('//', '//user:secret@') + '?tls=required')
    expect((await messenger.send(newMessage())).state).toBe('retry')
    expect(faulty.reached).not.toContain('MAIL')
    expect(faulty.taken).toEqual([])
    expect(warnings).toHaveLength(1)
  })
})
