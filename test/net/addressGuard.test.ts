import { expect, test } from 'vitest'
import { whyForbidden } from '../../src/net/addressGuard.ts'

const forbidden: Record<string, readonly string[]> = {
  unspecified: ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::', '0:0:0:0:0:0:0:0'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'of a carrier': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  'link-local': ['169.254.0.1', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf:ffff::1'],
  "a cloud's own": ['168.63.129.16', 'fd00:ec2::254', '192.0.0.192', 'fd20:ce::254'],
  'set aside': [
    '192.0.0.1',
    '192.0.0.170',
    '192.88.99.1',
    '240.0.0.1',
    '254.1.2.3',
    '192.31.196.1',
    '192.175.48.1',
  ],
  'in documentation': ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  'for measuring': ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  broadcast: ['255.255.255.255'],
  'v4-compatible': ['::2', '::7f00:1', '::127.0.0.1', '::8.8.8.8', '::808:808'],
  'v4-mapped': [
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::ffff:169.254.169.254',
    '::ffff:0:0',
    '0:0:0:0:0:ffff:c0a8:1',
  ],
  'v4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:808:808'],
  '6to4': ['2002::1', '2002:7f00:1::1', '2002:a00:1::', '2002:808:808::1'],
  NAT64: [
    '64:ff9b::a00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '64:ff9b:1:ffff::a9fe:a9fe',
  ],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'local by intent': ['fc00::1', 'fd12:3456:789a::1', 'fdff::1', 'fec0::1', 'feff::1'],
  'for experiments': [
    '2001:10::1',
    '2001:20::1',
    '2001:2f::1',
    '2001:30::1',
    '2001:1::1',
    '2001:3::1',
    '2001:1ff::1',
  ],
  discarded: ['100::1', '100:0:0:1::1'],
  'outside of what is handed out': [
    '1::1',
    '200::1',
    '1fff::1',
    '4000::1',
    '5f00::1',
    '8000::1',
    'e000::1',
    'fe00::1',
  ],
  'with a zone': ['fe80::1%eth0', '2606:4700::1%1', '::1%lo'],
  'no address': [
    '',
    ' ',
    '127.1',
    '0x7f.1',
    '017700000001',
    '2130706433',
    'localhost',
    '8.8.8.8 ',
    '[2606:4700::1]',
    '1.2.3',
  ],
}

for (const [kind, addresses] of Object.entries(forbidden)) {
  for (const address of addresses) {
    test(`'${address}' is forbidden because it is ${kind}, also with loopback allowed`, () => {
      expect(whyForbidden(address, false)).toEqual(expect.any(String))
      expect(whyForbidden(address, true)).toEqual(expect.any(String))
    })
  }
}

for (const address of [
  '127.0.0.1',
  '127.0.0.2',
  '127.255.255.255',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
]) {
  test(`${address} is loopback, and forbidden unless loopback is allowed`, () => {
    expect(whyForbidden(address, false)).toBe('a loopback address')
    expect(whyForbidden(address, true)).toBeUndefined()
  })
}

for (const address of [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255', // the neighbours of every wall
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.114.1',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7::1',
  '2003::1',
  '2400:cb00::1',
  '2606:4700:4700::1111',
  '2A00:1450:4001:82A::200E',
]) {
  test(`${address} is public`, () => expect(whyForbidden(address, false)).toBeUndefined())
}
