import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { answering, listen, ok, onRequest, patience, post, sleep } from '../support.ts'

const head = (line: string, ...headers: string[]) => `HTTP/1.1 ${[line, ...headers].join('\r\n')}\r\n\r\n`
const chunked = head('200 OK', 'transfer-encoding: chunked')
const closing = (text: string) => onRequest(socket => socket.end(text))

for (const [what, text, status, body] of [
  ['200', ok, 200, 'ok'],
  ['200 of HTTP/1.0, ended by the end', 'HTTP/1.0 200 OK\r\n\r\ndone', 200, 'done'],
  ['200 in chunks', `${chunked}2\r\nok\r\n0\r\n\r\n`, 200, 'ok'],
  ['200 without a reason', head('200', 'content-length: 0'), 200, ''],
  ['201', head('201 Created', 'content-length: 0'), 201, ''],
  ['202', head('202 Accepted', 'content-length: 3').concat('yes'), 202, 'yes'],
  ['204', head('204 No Content'), 204, ''],
  ['400', head('400 Bad Request', 'content-length: 2').concat('no'), 400, 'no'],
  ['410', head('410 Gone', 'content-length: 0'), 410, ''],
  ['500', head('500 Oops', 'content-length: 4').concat('oops'), 500, 'oops'],
  ['599', head('599 Strange', 'content-length: 0'), 599, ''],
  ['100 first', head('100 Continue') + ok, 200, 'ok'],
  ['100 twice first', head('100 Continue', 'x: y') + head('100 Continue') + ok, 200, 'ok'],
  ['102 and 103 first', head('102 Processing') + head('103 Early Hints', 'link: </x>') + ok, 200, 'ok'],
  ['100 of HTTP/1.0 first', `HTTP/1.0 100 Continue\r\n\r\n${ok}`, 200, 'ok'],
  ['a body cut short', head('200 OK', 'content-length: 10').concat('half'), 200, 'half'],
  ['a chunk cut short', `${chunked}8\r\nhalf`, 200, 'half'],
  ['200 in chunks with extensions and trailers', `${chunked}2;a=b\r\nok\r\n0;x\r\nx: y\r\n\r\n`, 200, 'ok'],
  ['two lengths', head('200 OK', 'content-length: 2', 'content-length: 3').concat('ok'), 200, ''],
  ['the same length twice', head('200 OK', 'content-length: 2', 'content-length: 2').concat('ok'), 200, ''],
  ['a length and chunks', head('200 OK', 'content-length: 2', 'transfer-encoding: chunked'), 200, ''],
  ['chunks and a length', head('200 OK', 'transfer-encoding: chunked', 'content-length: 2'), 200, ''],
  ['a broken chunk', `${chunked}zz\r\nhalf`, 200, ''],
] as const) {
  test(`an answer: ${what}`, async () => {
    const { url } = await listen(closing(text))
    const answer = await post(url)
    expect(answer).toMatchObject({
      status,
      failure: null,
      error: '',
      address: '127.0.0.1',
      retry_after: null,
    })
    expect(answer.body?.toString()).toBe(body)
    expect(answer.first_byte_ms).toBeLessThanOrEqual(answer.ms)
    expect(Number.isInteger(answer.ms) && Number.isInteger(answer.first_byte_ms)).toBe(true)
  })
}

test('100 Continue in pieces is skipped', async () => {
  const { url } = await listen(
    onRequest(async socket => {
      for (const piece of ['HT', 'TP/1.1 10', '0 Con', 'tinue\r\n\r', '\nHTTP/1', ok.slice(6)]) {
        socket.write(piece)
        await sleep(20)
      }
    }),
  )
  expect(await post(url)).toMatchObject({ status: 200, failure: null })
})

test('Retry-After is reported unchanged', async () => {
  const { url } = await listen(answering(head('429 Slow', 'Retry-After: 120', 'content-length: 0')))
  expect(await post(url)).toMatchObject({ status: 429, retry_after: '120' })
})

test('an endless Retry-After is cut', async () => {
  const { url } = await listen(
    answering(head('503 Slow', `retry-after: ${'9'.repeat(5000)}`, 'content-length: 0')),
  )
  expect((await post(url)).retry_after).toHaveLength(100)
})

for (const status of [301, 302, 303, 307, 308]) {
  test(`${status} is not followed`, async () => {
    const there = await listen(answering(ok))
    const { url } = await listen(
      answering(head(`${status} Moved`, `location: ${there.url}`, 'content-length: 0')),
    )
    expect(await post(url)).toMatchObject({ status, failure: null })
    expect(there.connections).toBe(0)
  })
}

const garbage = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 167) & 255))
for (const [what, bytes] of [
  ['garbage', garbage],
  ['text', 'hello'],
  ['a line end', '\r\n'],
  ['half a status line', 'HTTP/1.1 20'],
  ['half a header', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['headers without an end', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'],
  ['HTTP/2', Buffer.from('000012040000000000', 'hex')],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['a header with a bad name', 'HTTP/1.1 200 OK\r\nbad header: x\r\n\r\n'],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nx\r\n\r\n'],
  ['a header that goes on in the next line', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\n\r\n'],
  ['lines that end with a lone line feed', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
  ['one lone line feed', 'HTTP/1.1 200 OK\r\nx: y\nz: z\r\n\r\n'],
  ['one lone carriage return', 'HTTP/1.1 200 OK\r\nx: y\rz: z\r\n\r\n'],
  ['a zero byte in a header', 'HTTP/1.1 200 OK\r\nx: \0\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['status 000', 'HTTP/1.1 000 OK\r\n\r\n'],
  ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n'],
  ['HTTP/0.9', '<html>200</html>'],
  ['garbage after 100 Continue', `${head('100 Continue')}hello`],
  ['a switch of protocols', head('101 Switching', 'upgrade: websocket', 'connection: upgrade')],
  ['only 100 Continue', head('100 Continue')],
  ['half of 100 Continue', 'HTTP/1.1 100 Co'],
  ['17 KiB of one header', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(17 * 1024)}\r\n\r\n`],
  ['6000 headers', head('200 OK', ...Array<string>(6000).fill('x-y: z'))],
] as const) {
  test(`no answer: ${what}`, async () => {
    const { url } = await listen(onRequest(socket => socket.end(bytes)))
    const answer = await post(url)
    expect(answer).toMatchObject({ status: null, failure: 'bad_answer', body: null, address: '127.0.0.1' })
    expect(answer.error).not.toBe('')
  })
}

test('an endless header is cut off at 16 KiB', async () => {
  const { url, sockets } = await listen(
    onRequest(socket => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () =>
        socket.writable && socket.write(`x: ${'a'.repeat(1000)}\r\n`, () => setImmediate(more))
      more()
    }),
  )
  expect(await post(url)).toMatchObject({
    status: null,
    failure: 'bad_answer',
    error: 'the headers of the answer are too long',
  })
  await expect.poll(() => sockets.size, patience).toBe(0)
})

test('an endless reason phrase is cut off at 16 KiB', async () => {
  const { url } = await listen(
    onRequest(socket => {
      socket.write('HTTP/1.1 200 ')
      const more = () => socket.writable && socket.write('a'.repeat(1000), () => setImmediate(more))
      more()
    }),
  )
  expect(await post(url)).toMatchObject({
    status: null,
    failure: 'bad_answer',
    error: 'the headers of the answer are too long',
  })
})

for (const [what, bytes] of [
  ['not HTTP', 'hello'],
  ['HTTP with a lone line feed', 'HTTP/1.1 200 OK\n\n'],
] as const) {
  test(`an answer that is ${what} is refused at once, though the connection stays open`, async () => {
    const { url } = await listen(answering(bytes))
    const answer = await post(url)
    expect(answer).toMatchObject({ failure: 'bad_answer', error: 'the answer is not HTTP' })
    expect(answer.ms).toBeLessThan(5000)
  })
}

for (const [what, serve] of [
  ['closed without a byte', onRequest(socket => socket.end())],
  ['reset', onRequest(socket => socket.resetAndDestroy())],
  ['closed at once', (socket: { destroy(): unknown }) => void socket.destroy()],
] as const) {
  test(`no connection: ${what}`, async () => {
    const { url } = await listen(serve)
    expect(await post(url)).toMatchObject({ status: null, failure: 'no_connection' })
  })
}

test('no connection: no server listens', async () => {
  const { url, port } = await listen(() => {})
  const free = url.replace(String(port), '1')
  expect(await post(free)).toMatchObject({
    failure: 'no_connection',
    error: 'the connection was refused',
    address: null,
    first_byte_ms: null,
  })
})

test('a compressed body is not decompressed', async () => {
  const packed = gzipSync(Buffer.alloc(1_000_000))
  let asked = ''
  const { url } = await listen(
    onRequest((socket, request) => {
      asked = request
      socket.write(head('200 OK', 'content-encoding: gzip', `content-length: ${packed.length}`))
      socket.write(packed)
    }),
  )
  expect((await post(url)).body).toEqual(packed.subarray(0, 4096))
  expect(asked).toContain('accept-encoding: identity\r\n')
})

test('4 KiB of the body are kept, and a body of 64 KiB is read to its end', async () => {
  const body = Buffer.from(Array.from({ length: 64 * 1024 }, (_, i) => i & 255))
  const receiver = await listen(
    onRequest(socket => {
      socket.write(head('200 OK', `content-length: ${body.length}`))
      socket.write(body)
    }),
  )
  for (let i = 0; i < 3; i++) expect((await post(receiver.url)).body).toEqual(body.subarray(0, 4096))
  expect(receiver.connections).toBe(1)
})

test('a request with maxBodyBytes gets that much of the body, and waits for it longer than a second', async () => {
  const body = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i & 255))
  const { url } = await listen(
    onRequest(async socket => {
      socket.write(head('200 OK', `content-length: ${body.length}`))
      await sleep(1500)
      socket.write(body)
    }),
  )
  const [all, some] = await Promise.all([
    post(url, { maxBodyBytes: 300_000 }),
    post(url, { maxBodyBytes: 70_000 }),
  ])
  expect(all.body?.equals(body)).toBe(true)
  expect(some.body?.equals(body.subarray(0, 70_000))).toBe(true)
})

test('the bytes of a request', async () => {
  const requests: string[] = []
  const { url, port } = await listen(
    onRequest((socket, text) => {
      requests.push(text)
      socket.write(ok)
    }),
  )
  await post(`${url}a%20b/ü?x=1&y=é#part`, { headers: { 'webhook-id': 'm1' }, body: Buffer.from('{"é":1}') })
  await post(url, { method: 'GET', headers: {}, body: undefined })
  expect(requests[0]).toBe(
    [
      'POST /a%20b/%C3%BC?x=1&y=%C3%A9 HTTP/1.1',
      `host: 127.0.0.1:${port}`,
      'connection: keep-alive',
      'webhook-id: m1',
      'accept-encoding: identity',
      'content-length: 8',
      '',
      Buffer.from('{"é":1}').toString('latin1'),
    ].join('\r\n'),
  )
  expect(requests[1]).toMatch(/^GET \/ HTTP\/1\.1\r\n/)
})

for (const [name, value] of [
  ['bad', 'a\r\nb: c'],
  ['bad', 'a\nb'],
  ['bad', 'a\rb'],
  ['bad', 'a\0b'],
  ['bad', '\u{1f600}'], // more than a byte
  ['ba d', 'a'],
  ['bad:', 'a'],
  ['', 'a'],
  ['host', 'other.test'], // ours to say
  ['content-length', '1'],
  ['transfer-encoding', 'chunked'],
] as const) {
  test(`the header ${JSON.stringify({ [name]: value })} is reported, not thrown and not written`, async () => {
    const receiver = await listen(answering(ok))
    const answer = await post(receiver.url, { headers: { [name]: value } })
    expect(answer).toMatchObject({ status: null, failure: 'no_connection', error: `invalid ${name} header` })
    expect(receiver.connections).toBe(0)
  })
}
