import { expect, test } from 'vitest'
import { startNameServer } from './nameServer.ts'
import { answering, listen, ok, outbound, post, request } from './support.ts'

// No request may reach these servers. Their ports are allowed, so that only the address guard stops requests.
const canaries = [
  await listen(answering(ok)),
  await listen(answering(ok), '0.0.0.0'),
  await listen(answering(ok), '::1').catch(() => undefined), // not every machine has IPv6
].filter(canary => canary !== undefined)
const ports = canaries.map(canary => canary.port)

const internal: Record<string, string> = {
  'metadata.google.internal': '169.254.169.254',
  'instance-data.ec2.internal': '169.254.169.254',
  'metadata.azure.internal': '168.63.129.16',
  'meta.alibaba.test': '100.100.100.200',
  '127.0.0.1.nip.test': '127.0.0.1',
  'any.test': '0.0.0.0',
  'intranet.test': '10.1.2.3',
  intranet: '192.168.1.1',
  'v6.test': '::1',
  'mapped.test': '::ffff:127.0.0.1',
  'translated.test': '64:ff9b::7f00:1',
  'xn--bcher-kva.test': '127.0.0.1',
}
const names = await startNameServer(name => (internal[name] ? [internal[name]] : 'nxdomain'))
// Sent from loopback, so that nothing leaves the machine even if the guard has a hole.
const from = (sourceAddress: string) => outbound({ ports, nameServers: [names.address], sourceAddress })
const out4 = from('127.0.0.1')
const out6 = from('::1')

const hosts = [
  // IPv4 in every spelling that a URL allows
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.1.',
  '127.127.127.127',
  '127.255.255.254',
  '2130706433',
  '017700000001.',
  '0x7f000001',
  '0X7F000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '0x7F.0x0.0x0.0x1',
  '0177.0.0.1',
  '0177.1',
  '00000177.0.0.0001',
  '017700000001',
  '127.0x0.0.01',
  '0x0000007f.0.0.1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '１２７。０。０。１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '0',
  '0.0',
  '0.0.0.0',
  '0x0',
  '00',
  '0.0.0.1',
  '4294967295',
  '255.255.255.255',
  '0xffffffff',
  '4294967296', // too large to be an address
  '0x100000001',
  '256.0.0.1',
  '127.0.0.1.1',
  '10.0.0.1',
  '10.1',
  '167772161',
  '0xa000001',
  '012.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '2886729729',
  '192.168.0.1',
  '192.168.1',
  '3232235521',
  '0xC0.0xA8.0x0.0x1',
  '169.254.169.254',
  '169.254.43518',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '025177524776',
  '100.100.100.200',
  '100.64.0.1',
  '192.0.0.192',
  '168.63.129.16',
  '2822734096', // the same
  '198.18.0.1',
  '192.0.2.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  // IPv6
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[0::1]',
  '[::0:1]',
  '[::0.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::7F00:0001]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:0.0.0.0]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[2002:7f00:1::]',
  '[2002:7f00:0001:0:0:0:0:1]',
  '[2002:a9fe:a9fe::1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::7f00:1]',
  '[2001:0:7f00:1::1]',
  '[fe80::1]',
  '[FE80::1]',
  '[fe80::1%25lo]',
  '[fe80::1%lo]',
  '[::1%25lo]',
  '[fd00:ec2::254]',
  '[fc00::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[100::1]',
  '[::1', // not even an address
  '[127.0.0.1]',
  // names
  'localhost',
  'LOCALHOST',
  'LocalHost.',
  'localhost.',
  'foo.localhost',
  'a.b.LOCALHOST.',
  'ｌｏｃａｌｈｏｓｔ',
  'local%68ost',
  'localhost%00.example.com',
  'localhost..',
  '.localhost',
  'bücher.test',
  'BÜCHER.test',
  ...Object.keys(internal),
  'METADATA.GOOGLE.INTERNAL',
  'metadata.google.internal.',
]

const urls = [
  ...hosts.map(host => `http://${host}:PORT/`),
  ...['127.0.0.1', '[::1]', '0.0.0.0', 'localhost', 'any.test'].map(host => `https://${host}:PORT/`),
  'http:127.0.0.1:PORT/',
  'http:/127.0.0.1:PORT/',
  'http:///127.0.0.1:PORT/',
  'http://///127.0.0.1:PORT/',
  'http:\\\\127.0.0.1:PORT\\',
  'http:/\\127.0.0.1:PORT/',
  '  http://127.0.0.1:PORT/  ',
  'ht\ntp://127.0.\t0.1:PORT/',
  'HTTP://127.0.0.1:PORT/',
  // the host and the user
  'http://8.8.8.8@127.0.0.1:PORT/',
  'http://8.8.8.8:80@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@8.8.8.8/',
  'http://127.0.0.1:PORT#@8.8.8.8/',
  'http://127.0.0.1:PORT?@8.8.8.8/',
  'http://8.8.8.8%40127.0.0.1:PORT/',
  'http://user@8.8.8.8/',
  'http://:secret@8.8.8.8/',
  'http://user:secret@127.0.0.1:PORT/',
  // other schemes, and none
  'ftp://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:PORT/_x',
  'dict://127.0.0.1:PORT/',
  'ws://127.0.0.1:PORT/',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'unix:/run/docker.sock',
  'blob:http://127.0.0.1:PORT/x',
  '//127.0.0.1:PORT/',
  '127.0.0.1:PORT',
  '/path',
  '',
  'http://',
  'http://./',
  'http://%/',
  'http://a b/',
  `http://${'a'.repeat(64)}${'.a'.repeat(120)}/`,
  // ports
  'http://8.8.8.8:22/',
  'http://8.8.8.8:25/',
  'http://8.8.8.8:0/',
  'http://8.8.8.8:6379/',
  'http://8.8.8.8:65536/',
  'http://8.8.8.8:-80/',
  'https://[2606:4700:4700::1111]:22/',
  'http://shop.test:5432/',
]

for (const [index, template] of urls.entries()) {
  test(`${index}: ${JSON.stringify(template)} is not requested`, async () => {
    const out = template.includes('[') || template.includes('v6') ? out6 : out4
    for (const port of ports) {
      const { status, failure, error, address, first_byte_ms } = await out.send(
        request(template.replace('PORT', String(port)), { allowLoopback: false }),
      )
      expect({ status, address, first_byte_ms }).toEqual({ status: null, address: null, first_byte_ms: null })
      expect(failure).toBe('forbidden_address')
      expect(error).not.toBe('')
    }
  })
}

test('the table has more than a hundred spellings, and none of them reached a canary server', () => {
  expect(urls.length).toBeGreaterThan(170)
  expect(canaries.map(({ connections }) => connections)).toEqual(canaries.map(() => 0))
})

test('spellings of loopback are reached if loopback is allowed, so the canary servers work', async () => {
  const canary = await listen(answering(ok))
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '１２７.０.０.１',
    'localhost',
    'foo.LOCALHOST.',
    '[::ffff:7f00:1]',
  ]) {
    const { status, error } = await post(`http://${host}:${canary.port}/`)
    expect({ host, status, error }).toEqual({ host, status: 200, error: '' })
  }
  expect(canary.connections).toBeGreaterThan(0)
})

for (const host of ['10.0.0.1', '0.0.0.0', '169.254.169.254', '[fe80::1]', '[::127.0.0.1]', '[::]']) {
  test(`${host} stays forbidden if loopback is allowed`, async () => {
    expect(await out4.send(request(`http://${host}/`))).toMatchObject({
      status: null,
      failure: 'forbidden_address',
    })
  })
}

test('other ports are allowed on loopback only', async () => {
  const { failure, error } = await out4.send(request('http://8.8.8.8:6379/'))
  expect({ failure, error }).toEqual({
    failure: 'forbidden_address',
    error: 'port 6379 is not open; 80, 443, 8443 are',
  })
})

test('proxy variables in the environment are ignored', async () => {
  const proxy = await listen(answering(ok))
  const target = await listen(answering(ok))
  const variables = [
    'HTTP_PROXY',
    'http_proxy',
    'HTTPS_PROXY',
    'https_proxy',
    'ALL_PROXY',
    'NODE_USE_ENV_PROXY',
  ]
  const before = variables.map(name => [name, process.env[name]] as const)
  for (const name of variables) process.env[name] = name.startsWith('NODE') ? '1' : proxy.url
  const answer = await outbound().send(request(target.url))
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  expect(answer.status).toBe(200)
  expect({ proxy: proxy.connections, target: target.connections }).toEqual({ proxy: 0, target: 1 })
})
