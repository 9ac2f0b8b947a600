import { ResponseReader } from '../../../src/net/response.ts'

const head = (line: string, ...headers: string[]) => `HTTP/${[line, ...headers].join('\r\n')}\r\n\r\n`
const chunked = head('1.1 200 OK', 'Transfer-Encoding: chunked')

// Whole answers of every kind: the name, the bytes, and the result.
export const answers = [
  ['a length', head('1.1 200 OK', 'Content-Length: 2').concat('ok'), 200, 'ok', true],
  ['strange headers', head('1.1 204 No', 'constructor: a', '__proto__: b', 'x:'), 204, '', true],
  ['no length', head('1.1 200 OK').concat('done'), 200, 'done', false],
  ['HTTP/1.0', head('1.0 200 OK', 'content-length: 2').concat('ok'), 200, 'ok', false],
  ['HTTP/1.0 kept', head('1.0 200', 'connection: keep-alive', 'content-length: 0'), 200, '', true],
  ['204', head('1.1 204 No Content', 'date: now'), 204, '', true],
  [
    'a close',
    head('1.1 500 Oops', 'connection: close', 'content-length: 4').concat('oops'),
    500,
    'oops',
    false,
  ],
  [
    'chunks',
    `${chunked}2\r\nok\r\nA;q="1"\r\n0123456789\r\n000\r\nx: y\r\nz:\r\n\r\n`,
    200,
    'ok0123456789',
    true,
  ],
  ['no chunk', `${chunked}0\r\n\r\n`, 200, '', true],
  ['a bad chunk', `${chunked}2\r\nok\r\nx\r\n`, 200, 'ok', false],
  ['a chunk without its end', `${chunked}2\r\nok!\r\n0\r\n\r\n`, 200, 'ok', false],
  ['a chunk with a lone line feed', `${chunked}2\nok\r\n0\r\n\r\n`, 200, '', false],
  [
    'interim answers',
    head('1.1 100 Continue') + head('1.1 103 Hints', 'a: b') + head('1.1 204 No'),
    204,
    '',
    true,
  ],
  ['Retry-After', head('1.1 429 Slow', 'retry-after:  7 ', 'content-length: 0'), 429, '', true],
  ['two lengths', head('1.1 200 OK', 'content-length: 2', 'content-length: 3').concat('ok!'), 200, '', false],
  ['a body that breaks off', head('1.1 200 OK', 'content-length: 9').concat('half'), 200, 'half', false],
  ['not HTTP', 'hello', null, '', false],
  ['a bad header', head('1.1 200 OK', 'a b: c'), null, '', false],
  ['a lone line feed', 'HTTP/1.1 200 OK\nx: y\r\n\r\n', null, '', false],
  ['a switch', head('1.1 101 Switching', 'upgrade: x'), null, '', false],
] as const

// The result of an answer in these packets. A packet after the end closes the connection.
export function readAll(packets: readonly Buffer[]) {
  const reader = new ResponseReader()
  let reusable = false
  for (const packet of packets) {
    reusable = !reader.over
    if (!reader.over) reader.read(packet)
  }
  const { head: read, over, fault } = reader
  return {
    head: read,
    body: reader.body().toString('latin1'),
    over,
    reusable: reusable && reader.reusable,
    fault,
  }
}

// `cuts`: where one packet ends and the next begins, in order.
export const cut = (bytes: Buffer, cuts: readonly number[]) =>
  [0, ...cuts]
    .map((at, index) => bytes.subarray(at, cuts[index] ?? bytes.length))
    .filter(({ length }) => length > 0)
