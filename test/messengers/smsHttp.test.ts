import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import smsHttp from '../../src/messengers/smsHttp.ts'
import { newMessage, newTools, openMessenger } from './tools.ts'

type Taken = { method?: string; url: string; headers: IncomingMessage['headers']; body: string }
type Reply = (outgoing: ServerResponse, taken: Taken) => void

const fine: Reply = outgoing => void outgoing.end('{"status":"ok","message_id":"m-17"}')
const say =
  (http: number, text = '', headers = {}): Reply =>
  outgoing =>
    void outgoing.writeHead(http, headers).end(text)

async function openProvider(replies: Reply[] = []) {
  const taken: Taken[] = []
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing))
  async function handle(incoming: IncomingMessage, outgoing: ServerResponse) {
    let body = ''
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk
    const { method, url = '', headers } = incoming
    const one = { method, url, headers, body }
    taken.push(one)
    ;(replies.shift() ?? fine)(outgoing, one)
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(stop)
  return { taken, stop, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const json = '{"to": "{to_digits}", "from": "{from}", "msg": "{text}", "ref": "{id}", "n": {"x": [1]}}'
const usual = { SMS_HTTP_BODY: json, SMS_HTTP_FROM: 'Tollgate' }

async function open(replies: Reply[] = [], settings: Record<string, string> = usual, deadlineMs = 20_000) {
  const provider = await openProvider(replies)
  const tools = newTools()
  const all = { SMS_HTTP_URL: `${provider.url}/sms`, ...settings }
  const messenger = openMessenger(
    smsHttp,
    { ...all, SMS_HTTP_URL: all.SMS_HTTP_URL.replace('HERE', provider.url) },
    tools,
    deadlineMs,
  )
  assert.ok(messenger)
  return { provider, messenger, ...tools }
}

const sms = (text = 'You paid 25.00 GHS.', to = '+233241234567') => newMessage({ text, to })

describe('settings', () => {
  const good = { SMS_HTTP_URL: 'https://sms.example.com/send', ...usual }

  test('none: no messenger', () => {
    expect(openMessenger(smsHttp, {}, newTools())).toBeUndefined()
    expect(openMessenger(smsHttp, { ...usual, SMS_HTTP_URL: '' }, newTools())).toBeUndefined()
    expect(openMessenger(smsHttp, good, newTools())).toMatchObject({ medium: 'sms' })
  })

  for (const [wrong, words] of [
    [{ SMS_HTTP_URL: 'sms.example.com' }, 'SMS_HTTP_URL: must be'],
    [{ SMS_HTTP_URL: 'ftp://sms.example.com' }, 'SMS_HTTP_URL: must be'],
    [{ SMS_HTTP_URL: 'https://{to}.example.com/' }, 'SMS_HTTP_URL: must be'],
    [{ SMS_HTTP_URL: 'https://a:b@sms.example.com/' }, 'SMS_HTTP_URL: no user'],
    [{ SMS_HTTP_METHOD: 'DELETE' }, 'SMS_HTTP_METHOD: must be one of'],
    [{ SMS_HTTP_METHOD: 'GET' }, 'SMS_HTTP_BODY: a GET has none'],
    [{ SMS_HTTP_HEADERS: 'a: b' }, 'SMS_HTTP_HEADERS: must be a JSON object'],
    [{ SMS_HTTP_HEADERS: '["a"]' }, 'SMS_HTTP_HEADERS: must be a JSON object'],
    [{ SMS_HTTP_HEADERS: 'null' }, 'SMS_HTTP_HEADERS: must be a JSON object'],
    [{ SMS_HTTP_HEADERS: '{"a": 1}' }, 'SMS_HTTP_HEADERS: must be a JSON object'],
    [{ SMS_HTTP_HEADERS: '{"a b": "c"}' }, 'SMS_HTTP_HEADERS: must be a JSON object'],
    [{ SMS_HTTP_HEADERS: '{"content-type": "text/plain"}' }, 'SMS_HTTP_HEADERS: the content-type'],
    [{ SMS_HTTP_HEADERS: '{"Host": "other.example.com"}' }, 'SMS_HTTP_HEADERS: host is set by the gateway'],
    [{ SMS_HTTP_BODY: '{"to": "{to}"}' }, 'SMS_HTTP_BODY: {text} is neither'],
    [{ SMS_HTTP_BODY: '{"text": "{text}"}' }, 'SMS_HTTP_BODY: none of {to}'],
    [{ SMS_HTTP_BODY: '{"to": {to}, "text": {text}}' }, 'SMS_HTTP_BODY: is not JSON'],
    [{ SMS_HTTP_FROM: '' }, 'SMS_HTTP_FROM: missing'],
    [{ SMS_HTTP_OK: '(' }, 'SMS_HTTP_OK: must be a regular expression.'],
    [{ SMS_HTTP_ID: 'id' }, 'SMS_HTTP_ID: must be a regular expression with a group'],
  ] as const) {
    test(`${JSON.stringify(wrong)} throws at the start`, () => {
      expect(() => openMessenger(smsHttp, { ...good, ...wrong }, newTools())).toThrow(words)
    })
  }

  test('a URL without encryption causes a warning', () => {
    const tools = newTools()
    openMessenger(smsHttp, { ...good, SMS_HTTP_URL: 'http://sms.example.com/' }, tools)
    expect(tools.warnings).toEqual(['SMS_HTTP_URL: messages travel without encryption.'])
  })
})

// The provider must read exactly the text, and nothing else may change.
const texts = [
  'You paid 25.00 GHS.',
  'a "quoted" \\ back\\nslash \' one',
  'two\nlines\r\nand\ttab',
  'a=b&c=d&to=+233200000000#x?y',
  '{text} {to} {id} {from} {to_local}',
  '","to":"233200000000","x":"',
  '</text><to>1</to>&amp;<![CDATA[x]]>',
  '$& $1 $` %s %25 +',
  'Ɛyɛ 😀 شكرا ₵25',
]

describe('templates', () => {
  for (const text of texts) {
    test(`${JSON.stringify(text)} as JSON`, async () => {
      const { provider, messenger } = await open()
      const message = sms(text)
      expect(await messenger.send(message)).toEqual({ state: 'sent', provider_ref: undefined })
      const [{ method, headers, body }] = provider.taken as [Taken]
      expect([method, headers['content-type']]).toEqual(['POST', 'application/json'])
      const read = { to: '233241234567', from: 'Tollgate', msg: text, ref: message.id, n: { x: [1] } }
      expect(JSON.parse(body)).toEqual(read)
    })

    test(`${JSON.stringify(text)} as a form`, async () => {
      const { provider, messenger } = await open([], {
        SMS_HTTP_BODY: 'to={to}&local={to_local}&text={text}',
      })
      await messenger.send(sms(text))
      const [{ headers, body }] = provider.taken as [Taken]
      expect(headers['content-type']).toBe('application/x-www-form-urlencoded')
      const read = { to: '+233241234567', local: '0241234567', text }
      expect(Object.fromEntries(new URLSearchParams(body))).toEqual(read)
    })

    test(`${JSON.stringify(text)} in the query`, async () => {
      const { provider, messenger } = await open([], {
        SMS_HTTP_METHOD: 'GET',
        SMS_HTTP_URL: 'HERE/sms?key=k1&to={to_digits}&text={text}',
      })
      await messenger.send(sms(text))
      const [{ method, url, body }] = provider.taken as [Taken]
      expect([method, body]).toEqual(['GET', ''])
      const query = new URL(url, provider.url).searchParams
      expect(Object.fromEntries(query)).toEqual({ key: 'k1', to: '233241234567', text })
    })

    test(`${JSON.stringify(text)} as XML`, async () => {
      const { provider, messenger } = await open([], {
        SMS_HTTP_HEADERS: '{"Content-Type": "text/xml; charset=utf-8"}',
        SMS_HTTP_BODY: '<sms to="{to}"><text>{text}</text></sms>',
      })
      await messenger.send(sms(text))
      const inside = /^<sms to="\+233241234567"><text>([^<]*)<\/text><\/sms>$/.exec(
        provider.taken[0]?.body ?? '',
      )?.[1]
      const plain = inside?.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
      expect(plain).toBe(text)
    })
  }

  test('headers, with the id as idempotency key', async () => {
    const { provider, messenger } = await open([], {
      ...usual,
      SMS_HTTP_HEADERS: '{"X-Api-Key": "secret", "Idempotency-Key": "{id}", "X-Odd": "{text}"}',
    })
    const message = sms()
    await messenger.send(message)
    expect(provider.taken[0]?.headers).toMatchObject({
      'x-api-key': 'secret',
      'idempotency-key': message.id,
      'x-odd': '{text}',
    })
  })

  for (const to of ['', '0241234567', '+23324123456x', '+233241234567\r\n', '+233241234567,+233201234567'])
    test(`${JSON.stringify(to)} is not a phone number`, async () => {
      const { provider, messenger } = await open()
      expect((await messenger.send(sms('x', to))).state).toBe('rejected')
      expect(provider.taken).toEqual([])
    })
})

const head = (outgoing: ServerResponse) => outgoing.writeHead(200, { 'content-length': 1000 })

function endless(outgoing: ServerResponse, first: string) {
  outgoing.writeHead(200).write(first)
  const timer = setInterval(() => outgoing.write('x'.repeat(16 * 1024)), 1)
  outgoing.on('close', () => clearInterval(timer))
}

describe('answers', () => {
  const hints = { ...usual, SMS_HTTP_OK: '"status":"ok"', SMS_HTTP_ID: '"message_id":"([^"]+)"' }

  for (const [name, reply, sent, faults] of [
    ['the usual answer', fine, { state: 'sent', provider_ref: 'm-17' }, 0],
    ['no id in the answer', say(200, '{"status":"ok"}'), { state: 'sent' }, 0],
    ['202', say(202, '"status":"ok"'), { state: 'sent' }, 0],
    ['200 with a no', say(200, '{"status":"failed"}'), { state: 'retry' }, 1],
    ['200 with a page', say(200, '<h1>Back soon</h1>'), { state: 'retry' }, 1],
    ['200 with nothing', say(200), { state: 'retry' }, 1],
    ['a redirect', say(302, '', { location: 'http://127.0.0.1:1/' }), { state: 'retry' }, 1],
    ['bad number', say(400, 'invalid +233241234567'), { state: 'rejected', reason: 'HTTP 400 invalid …' }, 0],
    ['422', say(422), { state: 'rejected' }, 0],
    ['wrong key', say(401), { state: 'retry' }, 1],
    ['no credit', say(402), { state: 'retry' }, 1],
    ['forbidden', say(403), { state: 'retry' }, 1],
    ['wrong address', say(404), { state: 'retry' }, 1],
    ['conflict', say(409), { state: 'retry' }, 0],
    ['too many', say(429, '', { 'retry-after': '30' }), { state: 'retry', afterMs: 30_000 }, 0],
    [
      'too many, with a long Retry-After',
      say(429, '', { 'retry-after': '999999' }),
      { state: 'retry', afterMs: 3_600_000 },
      0,
    ],
    [
      'too many, with an invalid Retry-After',
      say(429, '', { 'retry-after': 'soon' }),
      { state: 'retry', afterMs: undefined },
      0,
    ],
    ['broken', say(500, 'Oops'), { state: 'retry' }, 1],
    ['away', say(503, '', { 'retry-after': '60' }), { state: 'retry', afterMs: 60_000 }, 1],
  ] as const) {
    test(`${name}: ${sent.state}`, async () => {
      const { provider, messenger, warnings } = await open([reply], hints)
      expect(await messenger.send(sms())).toMatchObject(sent)
      expect(warnings).toHaveLength(faults)
      expect(provider.taken).toHaveLength(1)
    })
  }

  test('Retry-After as a date', async () => {
    const date = new Date(Date.now() + 600_000).toUTCString()
    const { messenger } = await open([say(503, '', { 'retry-after': date })])
    const sent = await messenger.send(sms())
    assert.ok(sent.state === 'retry' && sent.afterMs)
    expect(sent.afterMs).toBeGreaterThan(500_000)
    expect(sent.afterMs).toBeLessThanOrEqual(600_000)
  })

  const yes = '{"status":"ok","message_id":"m-17"}'
  for (const [name, reply, bare, hinted] of [
    ['silence', () => {}, 'retry', 'retry'],
    ['a connection that is cut', outgoing => void outgoing.destroy(), 'retry', 'retry'],
    ['garbage', outgoing => void outgoing.socket?.end('\u0000\u0001 what?\r\n\r\n'), 'retry', 'retry'],
    ['headers and silence', outgoing => head(outgoing).flushHeaders(), 'sent', 'retry'],
    ['a partial success and silence', outgoing => void head(outgoing).write(yes), 'sent', 'sent'],
    [
      'a partial success and a cut connection',
      outgoing => void head(outgoing).write(yes, () => outgoing.destroy()),
      'sent',
      'sent',
    ],
    ['an endless answer', outgoing => endless(outgoing, 'x'), 'sent', 'retry'],
    ['an endless answer after a success', outgoing => endless(outgoing, yes), 'sent', 'sent'],
  ] as [string, Reply, string, string][]) {
    test(`${name}: ${bare}; with SMS_HTTP_OK: ${hinted}`, async () => {
      for (const [settings, state] of [
        [usual, bare],
        [hints, hinted],
      ] as const) {
        const { provider, messenger } = await open([reply], settings, 1500)
        const message = sms()
        expect((await messenger.send(message)).state).toBe(state)
        expect(provider.taken).toHaveLength(1)
        if (state === 'retry') expect((await messenger.send(message)).state).toBe('sent')
      }
    })
  }

  test('a provider that is down: retried, with one warning without secrets, and another one after a success', async () => {
    const { provider, messenger, warnings } = await open([], {
      SMS_HTTP_METHOD: 'GET',
      SMS_HTTP_URL: 'HERE/sms?key=secret&to={to}&text={text}',
    })
    expect((await messenger.send(sms())).state).toBe('sent')
    provider.stop()
    for (let i = 0; i < 3; i++) {
      const sent = await messenger.send(sms('private words'))
      assert.ok(sent.state === 'retry')
      expect(sent.reason).not.toMatch(/secret|private|241234567/)
    }
    expect(warnings.length).toBeLessThanOrEqual(2) // the open connection, and that there is no other
    expect(warnings.join()).not.toMatch(/secret|private|241234567/)
  })
})
