import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { addressOf } from '../../../src/web/http/apiRequest.ts'

const proxy = '10.0.0.9'
const address = (forwarded: string | undefined, trustedProxies: number) =>
  addressOf(
    {
      socket: { remoteAddress: proxy },
      headers: { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage,
    trustedProxies,
  )

for (const [forwarded, trusted, expected] of [
  ['203.0.113.9', 0, proxy], // nobody is believed
  [undefined, 1, proxy],
  ['', 1, proxy],
  ['203.0.113.9', 1, '203.0.113.9'],
  ['203.0.113.9:51234', 1, '203.0.113.9'],
  ['1.1.1.1:80, 203.0.113.9:51234', 1, '203.0.113.9'],
  ['198.51.100.1:1,203.0.113.9:2 , 10.0.0.1:3', 2, '203.0.113.9'],
  ['203.0.113.9', 2, proxy], // fewer than are trusted
  ['2001:db8::9', 1, '2001:db8::9'],
  ['2001:db8::9:443', 1, '2001:db8::9:443'], // a whole address: a port would need brackets
  ['[2001:db8::9]', 1, '2001:db8::9'],
  ['[2001:db8::9]:51234', 1, '2001:db8::9'],
  ['::ffff:203.0.113.9', 1, '::ffff:203.0.113.9'],
  ['[::ffff:203.0.113.9]:443', 1, '::ffff:203.0.113.9'],
  ['unknown', 1, proxy],
  ['_hidden', 1, proxy],
  ['203.0.113.999', 1, proxy],
  ['203.0.113.9:x', 1, proxy],
  ['[203.0.113.9', 1, proxy],
  ['pay.example:80', 1, proxy],
  ['x'.repeat(9000), 1, proxy],
] as const)
  test(`"${forwarded?.slice(0, 40)}", ${trusted} trusted`, () =>
    expect(address(forwarded, trusted)).toBe(expected))
