import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ServerFault, openFaultyServer, openMailServer, type Stage, stages } from '../mailServer.ts'
import { newMessage } from '../tools.ts'
import { type After, connect, open, testTimes } from './bench.ts'

const openFaulty = async (after: After, stage: Stage, faults: ServerFault[], times = testTimes) => {
  const faulty = await openFaultyServer(stage, faults)
  after(() => faulty.stop())
  return { faulty, ...connect(faulty.url, times, {}, after) }
}

const impatient = { ...testTimes, greetingMs: 3000, silenceMs: 3000 }

describe('the connection', () => {
  test('many messages, each once, few connections', async () => {
    const { server, messenger } = await open()
    for (let i = 0; i < 10; i++) expect((await messenger.send(newMessage())).state).toBe('sent')
    expect(server.counts.connections).toBe(1)
    const messages = Array.from({ length: 40 }, () => newMessage())
    const sent = await Promise.all(messages.map(messenger.send))
    expect(sent.filter(({ state }) => state === 'sent')).toHaveLength(40)
    expect(server.counts.connections).toBeLessThanOrEqual(5)
    expect(new Set(server.taken.map(({ mail }) => mail.messageId)).size).toBe(50)
    expect(server.taken).toHaveLength(50)
  })

  test('a server that restarts: retried while it is down, then sent, nothing twice', async () => {
    const server = await openMailServer()
    const { messenger, warnings } = connect(server.url)
    expect((await messenger.send(newMessage())).state).toBe('sent')
    await server.stop()
    const message = newMessage()
    const down = await messenger.send(message)
    expect(down.state).toBe('retry')
    expect((await messenger.send(message)).state).toBe('retry')
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.join()).not.toContain('ama@')
    const again = await openMailServer({}, server.port)
    onTestFinished(() => again.stop())
    expect((await messenger.send(message)).state).toBe('sent')
    expect([server.taken.length, again.taken.length]).toEqual([1, 1])
  })

  test('closing lets a message finish, and accepts no more', async () => {
    const faulty = await openFaultyServer('dot', [{ late: 300 }])
    onTestFinished(() => faulty.stop())
    const { messenger } = connect(faulty.url)
    const sending = messenger.send(newMessage())
    await expect.poll(() => faulty.reached).toContain('dot')
    await messenger.close()
    expect((await sending).state).toBe('sent')
    expect((await messenger.send(newMessage())).state).toBe('retry')
    expect(faulty.taken).toHaveLength(1)
  })

  test('a server that hangs does not delay closing', async () => {
    const faulty = await openFaultyServer('dot', ['hang'])
    onTestFinished(() => faulty.stop())
    const { messenger } = connect(faulty.url, { ...testTimes, silenceMs: 300_000, deadlineMs: 300_000 })
    const sending = messenger.send(newMessage())
    await expect.poll(() => faulty.reached).toContain('dot')
    const closeTimeout = sleep(testTimes.closeMs).then(() => performance.now()) // as late as the machine is
    await messenger.close()
    expect((await sending).state).toBe('retry')
    expect(performance.now() - (await closeTimeout)).toBeLessThan(4500)
  })
})

describe('refusals', () => {
  for (const [stage, say, state, warned] of [
    ['greeting', '554 go away', 'retry', 1],
    ['greeting', '421 busy', 'retry', 1],
    ['EHLO', '550 who are you', 'retry', 1],
    ['MAIL', '451 later', 'retry', 0],
    ['MAIL', '550 sender refused', 'rejected', 1],
    ['MAIL', '530 log in first', 'retry', 1],
    ['RCPT', '450 mailbox busy', 'retry', 0],
    ['RCPT', '550 5.1.1 <ama@example.com> unknown', 'rejected', 0],
    ['RCPT', '552 mailbox full', 'rejected', 0],
    ['RCPT', '421 closing', 'retry', 0],
    ['DATA', '451 not now', 'retry', 0],
    ['DATA', '554 no valid recipients', 'rejected', 0],
    ['dot', '452 no room', 'retry', 0],
    ['dot', '554 5.7.1 spam', 'rejected', 0],
    ['dot', 'garbage', 'retry', 0],
  ] as const) {
    test(`"${say}" at ${stage}: ${state}`, async () => {
      const faulty = await openFaultyServer(
        stage,
        Array.from({ length: 9 }, () => ({ say })),
      )
      onTestFinished(() => faulty.stop())
      const { messenger, warnings } = connect(faulty.url)
      const sent = await messenger.send(newMessage())
      expect(sent.state).toBe(state)
      assert.ok(sent.state !== 'sent')
      expect(sent.reason).not.toContain('ama@')
      expect(warnings).toHaveLength(warned)
      expect(faulty.taken.length).toBeLessThanOrEqual(1)
    })
  }

  test('after a refusal the same connection is used', async () => {
    const { server, messenger } = await open({
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith('nobody')
          ? done(Object.assign(new Error('unknown'), { responseCode: 550 }))
          : done(),
    })
    expect((await messenger.send(newMessage({ to: 'nobody@example.com' }))).state).toBe('rejected')
    expect((await messenger.send(newMessage())).state).toBe('sent')
    expect(server.counts.connections).toBe(1)
  })
})

describe.concurrent('connections that break', () => {
  for (const stage of stages)
    for (const fault of ['cut', 'hang'] as const)
      test(`${fault} at ${stage}: retried, then sent`, async ({ onTestFinished: after }) => {
        const { faulty, messenger } = await openFaulty(after, stage, [fault, fault], impatient)
        const message = newMessage()
        let tries = 1
        while ((await messenger.send(message)).state === 'retry') tries++
        expect(tries).toBeLessThanOrEqual(3)
        // Sent twice only if the connection broke between the last dot and its answer: then the outcome is unknown.
        expect(faulty.taken).toHaveLength(stage === 'dot' ? tries : 1)
        expect(new Set(faulty.taken.map(text => /^Message-ID: (.*)$/m.exec(text)?.[1])).size).toBe(1)
      })

  test('a slow answer after the dot is awaited, and the mail is not sent twice', async ({
    onTestFinished: after,
  }) => {
    const { faulty, messenger } = await openFaulty(after, 'dot', [{ late: 3000 }], {
      ...testTimes,
      silenceMs: 8000,
      deadlineMs: 9000,
    })
    expect((await messenger.send(newMessage())).state).toBe('sent')
    expect(faulty.taken).toHaveLength(1)
  })

  test('a server that never finishes is disconnected at the deadline, and the next message is sent', async ({
    onTestFinished: after,
  }) => {
    const { faulty, messenger } = await openFaulty(after, 'RCPT', ['hang'], {
      ...testTimes,
      silenceMs: 20_000,
      deadlineMs: 5000,
    })
    expect(await messenger.send(newMessage())).toEqual({
      state: 'retry',
      reason: 'The mail server did not finish in time.',
    })
    expect((await messenger.send(newMessage())).state).toBe('sent')
    expect(faulty.taken).toHaveLength(1)
  })

  test('a message that waits too long for a connection is retried', async ({ onTestFinished: after }) => {
    const { messenger } = await openFaulty(
      after,
      'dot',
      Array.from({ length: 5 }, () => ({ late: 6000 })),
      {
        ...testTimes,
        waitMs: 4000,
      },
    )
    const sent = await Promise.all(Array.from({ length: 7 }, () => messenger.send(newMessage())))
    expect(sent.filter(({ state }) => state === 'sent')).toHaveLength(5)
    expect(sent.filter(({ state }) => state === 'retry')).toHaveLength(2)
  })
})
