import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { later, listen, ok, onRequest, outbound, patience, post, request, sleep } from './support.ts'

// A request has ten seconds, and three to connect. A body that does not end is given up a second after its headers.
const tryMs = 10_000
const connectMs = 3000
const bodyMs = 1000
const graceMs = 3000

// When a plain timer of this machine fires. A deadline ends soon after: a slow machine delays both.
const rings = (ms: number) => sleep(ms).then(() => performance.now())

const status200 = 'HTTP/1.1 200 OK\r\n'

// Writes the text one piece after the other, and then nothing more.
const dripping = (pieces: Iterable<string>, everyMs: number) =>
  onRequest(async socket => {
    for (const piece of pieces) {
      if (!socket.writable) return
      socket.write(piece)
      await sleep(everyMs)
    }
  })

// All requests start together, before the first test awaits a result.
async function visit(serve: (socket: Socket) => unknown) {
  let body = Promise.resolve(0) // from the request on
  const receiver = await listen(socket => {
    socket.once('data', () => void (body = rings(bodyMs)))
    serve(socket)
  })
  const whole = rings(tryMs)
  const answer = await post(receiver.url)
  const endedAt = performance.now()
  return {
    answer,
    lateMs: async () => endedAt - (await whole),
    bodyLateMs: async () => endedAt - (await body),
    open: () => receiver.sockets.size,
  }
}

function* forever(piece: string) {
  for (;;) yield piece
}

for (const [what, serve] of [
  ['accepts and does not answer', (socket: Socket) => void socket.resume()],
  ['reads the request and does not answer', onRequest(() => {})],
  ['half a header, then silence', onRequest(socket => void socket.write(`${status200}content-le`))],
  ['half of 100 Continue, then silence', onRequest(socket => void socket.write('HTTP/1.1 100 Con'))],
  ['a byte a second', dripping(`${status200}content-length: 2\r\n\r\nok`, 1000)],
  ['a header a second, for ever', dripping([status200, ...Array<string>(60).fill('x: y\r\n')], 1000)],
  ['early hints for ever', dripping(forever('HTTP/1.1 103 Early Hints\r\n\r\n'), 50)],
  ['100 Continue for ever', dripping(forever('HTTP/1.1 100 Continue\r\n\r\n'), 50)],
  ['a status line for ever', dripping(['HTTP/1.1 200 ', ...Array<string>(500).fill('a'.repeat(10))], 50)],
] as const) {
  const visited = visit(serve)
  test(`${what}: a timeout at ten seconds`, async () => {
    const { answer, lateMs, open } = await visited
    expect(answer).toMatchObject({ status: null, failure: 'timeout', address: '127.0.0.1' })
    expect(await lateMs()).toBeLessThan(graceMs)
    expect(answer.error).toMatch(/ in 10 s$/)
    expect(answer.ms).toBeGreaterThan(9000)
    await expect.poll(open, patience).toBe(0) // and nothing is held behind our back
  })
}

for (const [what, pieces, everyMs, body] of [
  ['a body that never begins', [`${status200}content-length: 2\r\n\r\n`], 0, /^$/],
  ['a byte a second', [`${status200}content-length: 100\r\n\r\n`, ...'a'.repeat(30)], 1000, /^a{0,4}$/],
  [
    'an empty text chunk',
    [`${status200}transfer-encoding: chunked\r\n\r\n2;`, ...'x'.repeat(200)],
    100,
    /^$/,
  ],
  ['a body without an end', [`${status200}\r\n`, ...Array<string>(200).fill('abc')], 100, /^(abc)+$/],
] as const) {
  const visited = visit(dripping(pieces, everyMs))
  test(`200 and ${what}: it is 200, and the slot is free soon`, async () => {
    const { answer, bodyLateMs, open } = await visited
    expect(answer).toMatchObject({ status: 200, failure: null })
    expect(answer.body?.toString()).toMatch(body)
    expect(await bodyLateMs()).toBeLessThan(graceMs)
    await expect.poll(open, patience).toBe(0)
  })
}

// On a slow machine the headers may arrive too late. Then the test tries again.
async function visitLate(tries = 3): Promise<Awaited<ReturnType<typeof visit>>> {
  let sentAt = Infinity
  const began = Date.now()
  const visited = await visit(
    onRequest(async socket => {
      await sleep(9200)
      sentAt = Date.now()
      socket.write(`${status200}content-length: 2\r\n\r\n`)
    }),
  )
  const wasTooLate = visited.answer.failure === 'timeout' && sentAt - began > 9300
  return wasTooLate && tries > 1 ? visitLate(tries - 1) : visited
}
const late = visitLate()
test('late headers and a slow body do not take longer than ten seconds together', async () => {
  const { answer, lateMs, open } = await late
  expect(answer).toMatchObject({ status: 200, failure: null })
  expect(await lateMs()).toBeLessThan(graceMs)
  await expect.poll(open, patience).toBe(0)
})

async function sendTogether(size: number) {
  const receiver = await listen(socket => void socket.resume())
  const out = outbound()
  const rung = rings(tryMs)
  const answers = await Promise.all(Array.from({ length: size }, () => out.send(request(receiver.url))))
  return { answers, lateMs: performance.now() - (await rung) }
}
const togetherResults = sendTogether(20)
test('many requests to a server that hangs: each has a connection and ten seconds', async () => {
  const { answers, lateMs } = await togetherResults
  expect(lateMs).toBeLessThan(graceMs)
  expect(answers.map(({ failure }) => failure)).toEqual(Array(20).fill('timeout'))
  expect(answers.map(({ error }) => error)).toEqual(Array(20).fill('no answer in 10 s'))
})

test('a body of 1 GB is cut off at 64 KiB, and memory stays flat', async () => {
  const gigabyte = 1024 ** 3
  const block = Buffer.alloc(256 * 1024)
  let written = 0
  const { url } = await listen(
    onRequest(async socket => {
      socket.write(`${status200}content-length: ${gigabyte}\r\n\r\n`)
      for (; written < gigabyte && socket.writable; written += block.length)
        await new Promise(resolve => socket.write(block, resolve))
    }),
  )
  const before = process.memoryUsage().rss
  for (let i = 0; i < 20; i++) {
    const answer = await post(url)
    expect(answer.status).toBe(200)
    expect(answer.body).toHaveLength(4096)
  }
  await sleep(200)
  expect(written).toBeLessThan(gigabyte / 4)
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2)
})

// A process that listens and is stopped: when its queue is full, the kernel drops connection requests.
const listening = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 },
  function () { console.log(this.address().port) })`

async function visitDeaf() {
  const child = spawn(process.execPath, ['-e', listening], { stdio: ['ignore', 'pipe', 'inherit'] })
  later(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  child.kill('SIGSTOP')
  const port = Number(line)
  for (let queued = 0; queued < 8; queued++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    later(() => socket.destroy())
    await Promise.race([once(socket, 'connect'), sleep(300)])
  }
  const began = Date.now()
  const rung = rings(connectMs)
  const answer = await post(`http://127.0.0.1:${port}/ipn`)
  return { answer, tookMs: Date.now() - began, lateMs: performance.now() - (await rung) }
}
const deaf = visitDeaf()

test('a server that hangs does not delay requests to another', async () => {
  const hanging = await listen(socket => void socket.resume())
  const healthy = await listen(onRequest(socket => void socket.write(ok)))
  const out = outbound()
  const stuck = Array.from({ length: 30 }, () => out.send(request(hanging.url)))
  for (let i = 0; i < 50; i++) {
    const { status, ms } = await out.send(request(healthy.url))
    expect(status).toBe(200)
    expect(ms).toBeLessThan(3000)
  }
  await out.close()
  const ends = (await Promise.all(stuck)).map(({ failure }) => failure)
  expect(ends).toEqual(Array(30).fill('no_connection'))
})

test('an address that drops packets is given up after three seconds', async () => {
  const { answer, tookMs, lateMs } = await deaf
  expect(answer).toMatchObject({ status: null, failure: 'timeout', first_byte_ms: null })
  expect(tookMs).toBeGreaterThan(2500)
  expect(lateMs).toBeLessThan(graceMs)
})
