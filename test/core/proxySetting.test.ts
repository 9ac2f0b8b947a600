import { expect, test } from 'vitest'
import { readProxy } from '../../src/core/networkSettings.ts'

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

for (const [text, host, port, authorization] of [
  ['http://proxy:3128', 'proxy', 3128, undefined],
  ['http://proxy/', 'proxy', 80, undefined],
  ['HTTP://Proxy.example:8080', 'proxy.example', 8080, undefined],
  ['http://[::1]:3128', '::1', 3128, undefined],
  ['http://user:p%40ss%3Aword@proxy:3128', 'proxy', 3128, basic('user:p@ss:word')],
  ['http://user@proxy:3128', 'proxy', 3128, basic('user:')],
] as const)
  test(`${text} is a proxy`, () => expect(readProxy(text)).toEqual({ host, port, authorization }))

for (const text of [
  '',
  'proxy:3128',
  'nonsense',
  'https://proxy:3128',
  'socks5://proxy:1080',
  'http://proxy:3128/path',
  'http://proxy:3128/?a=1',
  'http://proxy:3128/#a',
  'http://user:%zz@proxy:3128',
])
  test(`'${text}' is none`, () => expect(readProxy(text)).toBeUndefined())
