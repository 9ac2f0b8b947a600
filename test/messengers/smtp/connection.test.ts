import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Deed, openCrookedServer, openMailServer, type Stage, stages } from '../mailServer.ts'
import { newLetter } from '../tools.ts'
import { type After, connect, open, testTimes } from './bench.ts'

const crook = async (after: After, stage: Stage, deeds: Deed[], times = testTimes) => {
  const crooked = await openCrookedServer(stage, deeds)
  after(() => crooked.stop())
  return { crooked, ...connect(crooked.url, times, {}, after) }
}

const impatient = { ...testTimes, greetingMs: 3000, silenceMs: 3000 }

describe('the line', () => {
  test('many letters, each once, few connections', async () => {
    const { server, messenger } = await open()
    for (let i = 0; i < 10; i++) expect((await messenger.send(newLetter())).state).toBe('sent')
    expect(server.counts.connections).toBe(1)
    const letters = Array.from({ length: 40 }, () => newLetter())
    const sent = await Promise.all(letters.map(messenger.send))
    expect(sent.filter(({ state }) => state === 'sent')).toHaveLength(40)
    expect(server.counts.connections).toBeLessThanOrEqual(5)
    expect(new Set(server.taken.map(({ mail }) => mail.messageId)).size).toBe(50)
    expect(server.taken).toHaveLength(50)
  })

  test('a server that restarts: later while it is away, sent again after, nothing twice', async () => {
    const server = await openMailServer()
    const { messenger, warnings } = connect(server.url)
    expect((await messenger.send(newLetter())).state).toBe('sent')
    await server.stop()
    const letter = newLetter()
    const down = await messenger.send(letter)
    expect(down.state).toBe('retry')
    expect((await messenger.send(letter)).state).toBe('retry')
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.join()).not.toContain('ama@')
    const again = await openMailServer({}, server.port)
    onTestFinished(() => again.stop())
    expect((await messenger.send(letter)).state).toBe('sent')
    expect([server.taken.length, again.taken.length]).toEqual([1, 1])
  })

  test('closing lets a letter finish, and takes no more', async () => {
    const crooked = await openCrookedServer('dot', [{ late: 300 }])
    onTestFinished(() => crooked.stop())
    const { messenger } = connect(crooked.url)
    const sending = messenger.send(newLetter())
    await expect.poll(() => crooked.heard).toContain('dot')
    await messenger.close()
    expect((await sending).state).toBe('sent')
    expect((await messenger.send(newLetter())).state).toBe('retry')
    expect(crooked.taken).toHaveLength(1)
  })

  test('a server that hangs does not hold up the closing', async () => {
    const crooked = await openCrookedServer('dot', ['hang'])
    onTestFinished(() => crooked.stop())
    const { messenger } = connect(crooked.url, { ...testTimes, silenceMs: 300_000, deadlineMs: 300_000 })
    const sending = messenger.send(newLetter())
    await expect.poll(() => crooked.heard).toContain('dot')
    const rung = sleep(testTimes.closeMs).then(() => performance.now()) // as late as the machine is
    await messenger.close()
    expect((await sending).state).toBe('retry')
    expect(performance.now() - (await rung)).toBeLessThan(4500)
  })
})

describe('refusals', () => {
  for (const [stage, say, state, told] of [
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
      const crooked = await openCrookedServer(
        stage,
        Array.from({ length: 9 }, () => ({ say })),
      )
      onTestFinished(() => crooked.stop())
      const { messenger, warnings } = connect(crooked.url)
      const sent = await messenger.send(newLetter())
      expect(sent.state).toBe(state)
      assert.ok(sent.state !== 'sent')
      expect(sent.reason).not.toContain('ama@')
      expect(warnings).toHaveLength(told)
      expect(crooked.taken.length).toBeLessThanOrEqual(1)
    })
  }

  test('after a refusal the same connection goes on', async () => {
    const { server, messenger } = await open({
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith('nobody')
          ? done(Object.assign(new Error('unknown'), { responseCode: 550 }))
          : done(),
    })
    expect((await messenger.send(newLetter({ to: 'nobody@example.com' }))).state).toBe('rejected')
    expect((await messenger.send(newLetter())).state).toBe('sent')
    expect(server.counts.connections).toBe(1)
  })
})

describe.concurrent('lines that break', () => {
  for (const stage of stages)
    for (const deed of ['cut', 'hang'] as const)
      test(`${deed} at ${stage}: later, then sent`, async ({ onTestFinished: after }) => {
        const { crooked, messenger } = await crook(after, stage, [deed, deed], impatient)
        const letter = newLetter()
        let tries = 1
        while ((await messenger.send(letter)).state === 'retry') tries++
        expect(tries).toBeLessThanOrEqual(3)
        // Twice only where the line broke between the last dot and its answer: nobody can know then.
        expect(crooked.taken).toHaveLength(stage === 'dot' ? tries : 1)
        expect(new Set(crooked.taken.map(text => /^Message-ID: (.*)$/m.exec(text)?.[1])).size).toBe(1)
      })

  test('a slow answer after the dot is waited for, not sent twice', async ({ onTestFinished: after }) => {
    const { crooked, messenger } = await crook(after, 'dot', [{ late: 3000 }], {
      ...testTimes,
      silenceMs: 8000,
      deadlineMs: 9000,
    })
    expect((await messenger.send(newLetter())).state).toBe('sent')
    expect(crooked.taken).toHaveLength(1)
  })

  test('a server that never comes to an end is cut at the deadline, and the next letter goes through', async ({
    onTestFinished: after,
  }) => {
    const { crooked, messenger } = await crook(after, 'RCPT', ['hang'], {
      ...testTimes,
      silenceMs: 20_000,
      deadlineMs: 5000,
    })
    expect(await messenger.send(newLetter())).toEqual({
      state: 'retry',
      reason: 'The mail server did not finish in time.',
    })
    expect((await messenger.send(newLetter())).state).toBe('sent')
    expect(crooked.taken).toHaveLength(1)
  })

  test('who waits too long for a line is told later', async ({ onTestFinished: after }) => {
    const { messenger } = await crook(
      after,
      'dot',
      Array.from({ length: 5 }, () => ({ late: 6000 })),
      {
        ...testTimes,
        waitMs: 4000,
      },
    )
    const sent = await Promise.all(Array.from({ length: 7 }, () => messenger.send(newLetter())))
    expect(sent.filter(({ state }) => state === 'sent')).toHaveLength(5)
    expect(sent.filter(({ state }) => state === 'retry')).toHaveLength(2)
  })
})
