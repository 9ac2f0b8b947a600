import { random, randomBelow } from '../random.ts'
import type { Attack, Crowd } from './crowd.ts'

const holdMs = 3000
const initiation = '/v1/mobile_agents_v2'
const bodyBytes = 64 * 1024

const head = (first: string, ...headers: string[]) =>
  [`${first} HTTP/1.1`, 'host: here', ...headers, '', ''].join('\r\n')
const postHead = (...headers: string[]) =>
  head(`POST ${initiation}`, 'content-type: application/json', ...headers)

// Floods the address of payment requests with a body of 64 KiB.
const bodies = (crowd: Crowd, type: string, body: string | Buffer, perSecond: number) =>
  crowd.flood(
    () => ({ method: 'POST', path: initiation, headers: { 'content-type': type }, body }),
    perSecond,
  )

function multipart(boundary: string, size = bodyBytes): string {
  const part = (n: number) => `--${boundary}\r\ncontent-disposition: form-data; name="f${n}"\r\n\r\n1\r\n`
  let body = ''
  for (let n = 0; body.length + part(n).length + boundary.length + 8 < size; n++) body += part(n)
  return `${body}--${boundary}--\r\n`
}

// Many incomplete boundaries: a search that restarts at each of them is quadratic.
const nearBoundaries = (boundary: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n` +
  `\r\n--${boundary.slice(0, -1)}`.repeat(Math.floor(bodyBytes / (boundary.length + 4)) - 2) +
  `\r\n--${boundary}--\r\n`

const manyPairs = 'a&'.repeat(30_000)
const manyNames = () => {
  let body = ''
  for (let n = 0; body.length < bodyBytes - 8; n++) body += `${n.toString(36)}=&`
  return body
}

const deep = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
const deepObjects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
const manyKeys = () => {
  let body = '{'
  for (let n = 0; body.length < bodyBytes - 20; n++) body += `"${n.toString(36)}":1,`
  return `${body}"z-":1}`
}
const longNumber = `{"merchant_key":"lk_nobody","invoice_id":"A-1","total":1${'0'.repeat(60_000)}}`

// The first bytes of a TLS 1.2 client hello: a record of 512 bytes that is never completed.
const tlsHello = Buffer.concat([Buffer.from('1603010200010001fc0303', 'hex'), Buffer.alloc(200, 7)])

// Attacks on sockets and on body parsers. None needs a secret.
export const attacks: readonly Attack[] = [
  {
    what: 'slow bodies with a length: 2,000 sockets, a byte a second',
    async run(crowd) {
      await crowd.openMany(2000, socket => socket.write(`${postHead(`content-length: ${bodyBytes}`)}{`))
      await crowd.keepWriting(' ', 1000, holdMs)
    },
  },
  {
    what: 'slow bodies in chunks: 2,000 sockets, a byte a second',
    async run(crowd) {
      await crowd.openMany(2000, socket =>
        socket.write(`${postHead('transfer-encoding: chunked')}1\r\n{\r\n`),
      )
      await crowd.keepWriting('1\r\n \r\n', 1000, holdMs)
    },
  },
  {
    what: 'half-sent bodies: 1,200 sockets, 60 KiB each, then silence',
    async run(crowd) {
      const half = postHead(`content-length: ${bodyBytes}`) + '{'.padEnd(60 * 1024)
      await crowd.openMany(1200, socket => socket.write(half))
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'half-sent bodies in chunks: 1,200 sockets, 60 KiB each, then silence',
    async run(crowd) {
      const half = `${postHead('transfer-encoding: chunked')}f000\r\n${'{'.padEnd(60 * 1024)}\r\n`
      await crowd.openMany(1200, socket => socket.write(half))
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'bodies announced with Expect: 100-continue, and never sent: 500 sockets',
    async run(crowd) {
      await crowd.openMany(500, socket =>
        socket.write(postHead(`content-length: ${bodyBytes}`, 'expect: 100-continue')),
      )
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'slow headers: 2,000 sockets, a byte a second',
    async run(crowd) {
      await crowd.openMany(2000, socket => socket.write('GET /healthz HTTP/1.1\r\nhost: here\r\nx: a'))
      await crowd.keepWriting('a', 1000, holdMs)
    },
  },
  {
    what: 'multipart with a boundary of 12 KB: 100 a second',
    run: crowd => {
      const boundary = 'b'.repeat(12_000)
      return bodies(crowd, `multipart/form-data; boundary=${boundary}`, multipart(boundary), 100)
    },
  },
  {
    what: 'multipart with near misses of a boundary of 12 KB: 100 a second',
    run: crowd => {
      const boundary = 'b'.repeat(12_000)
      return bodies(crowd, `multipart/form-data; boundary=${boundary}`, nearBoundaries(boundary), 100)
    },
  },
  {
    what: 'multipart with near misses of a boundary of 70: 100 a second',
    run: crowd => {
      const boundary = '-'.repeat(70)
      return bodies(crowd, `multipart/form-data; boundary=${boundary}`, nearBoundaries(boundary), 100)
    },
  },
  {
    what: 'multipart with as many parts as fit: 100 a second',
    run: crowd => bodies(crowd, 'multipart/form-data; boundary=b', multipart('b'), 100),
  },
  {
    what: 'urlencoded with 30,000 pairs: 100 a second',
    run: crowd => bodies(crowd, 'application/x-www-form-urlencoded', manyPairs, 100),
  },
  {
    what: 'urlencoded with as many names as fit: 100 a second',
    run: crowd => bodies(crowd, 'application/x-www-form-urlencoded', manyNames(), 100),
  },
  {
    what: 'JSON of 30,000 lists in each other: 100 a second',
    run: crowd => bodies(crowd, 'application/json', deep, 100),
  },
  {
    what: 'JSON of 10,000 objects in each other: 100 a second',
    run: crowd => bodies(crowd, 'application/json', deepObjects, 100),
  },
  {
    what: 'JSON with as many keys as fit: 100 a second',
    run: crowd => bodies(crowd, 'application/json', manyKeys(), 100),
  },
  {
    what: 'JSON with a total of 60,000 digits: 100 a second',
    run: crowd => bodies(crowd, 'application/json', longNumber, 100),
  },
  {
    what: 'connect and be silent: 2,000 sockets',
    async run(crowd) {
      await crowd.openMany(2000, () => {})
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'half a request, and not a byte read: 2,000 sockets',
    async run(crowd) {
      await crowd.openMany(2000, socket => {
        socket.pause()
        socket.write(`${head('GET /healthz')}GET /he`)
      })
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'half a request, then FIN: 2,000 sockets',
    async run(crowd) {
      await crowd.openMany(
        2000,
        (socket, n) => socket.end(n % 2 ? 'GET /he' : `${postHead(`content-length: ${bodyBytes}`)}{`),
        { allowHalfOpen: true },
      )
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'connect and leave: 1,000 a second',
    async run(crowd) {
      await crowd.openMany(2000, (socket, n) => (n % 2 ? socket.resetAndDestroy() : socket.end()))
    },
  },
  {
    what: 'pipelining: 1,000 requests on each of 50 sockets',
    async run(crowd) {
      const request = JSON.stringify({ merchant_key: crowd.target.merchant_key, invoice_id: 'A', total: '1' })
      const post = postHead(`content-length: ${request.length}`) + request
      await crowd.openMany(
        50,
        (socket, n) => socket.write((n % 2 ? post : head('GET /healthz')).repeat(1000)),
        { perSecond: 50 },
      )
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'Upgrade, with 1,000 requests behind it: 100 sockets',
    async run(crowd) {
      const upgrade = head('GET /healthz', 'connection: upgrade', 'upgrade: websocket')
      await crowd.openMany(100, socket => socket.write(upgrade + head('GET /openapi.json').repeat(1000)), {
        perSecond: 100,
      })
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'CONNECT, with 1,000 requests behind it: 100 sockets',
    async run(crowd) {
      const tunnel = head('CONNECT shop.example:443')
      await crowd.openMany(100, socket => socket.write(tunnel + head('GET /healthz').repeat(1000)), {
        perSecond: 100,
      })
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'requests cut off at a random byte: 500 a second',
    async run(crowd) {
      const { merchant_key } = crowd.target
      const body = JSON.stringify({
        merchant_key,
        invoice_id: 'A-1',
        total: '1',
        secure_hash: 'a'.repeat(64),
      })
      const whole = postHead(`content-length: ${body.length}`) + body
      await crowd.openMany(
        2000,
        (socket, n) => {
          socket.write(whole.slice(0, 1 + randomBelow(whole.length)))
          setTimeout(() => (n % 2 ? socket.resetAndDestroy() : socket.destroy()), random() * 20)
        },
        { perSecond: 500 },
      )
    },
  },
  {
    what: 'large answers that nobody reads: 300 sockets, eight requests each',
    async run(crowd) {
      const wanted = head('GET /docs/security', 'accept-encoding: identity').repeat(8)
      await crowd.openMany(300, socket => {
        socket.pause()
        socket.write(wanted)
      })
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'pages that nobody reads: 300 sockets, eight requests each',
    async run(crowd) {
      const wanted = head(`GET /checkout/${crowd.target.own.token}`, 'accept: text/html').repeat(8)
      await crowd.openMany(300, socket => {
        socket.pause()
        socket.write(wanted)
      })
      await crowd.hold(holdMs)
    },
  },
  {
    what: 'a TLS hello on the plain port: 500 a second',
    run: crowd => crowd.openMany(1000, socket => socket.write(tlsHello), { perSecond: 500 }),
  },
]
