import { expect, test } from 'vitest'
import { type Reply, startNameServer } from './nameServer.ts'
import { answering, listen, ok, outbound, request } from './support.ts'

const publicly = '93.184.215.14'
const canary = await listen(answering(ok))
const receiver = await listen(answering(ok.replace('\r\n', '\r\nconnection: close\r\n')))

// name: the answers for A and for AAAA
const zone: Record<string, (asked: number) => readonly [Reply, Reply]> = {
  'shop.test': () => [['127.0.0.1'], []],
  'only-v4.test': () => [['127.0.0.1'], 'nxdomain'],
  'broken-v6.test': () => [['127.0.0.1'], 'servfail'],
  'half-silent.test': () => [['127.0.0.1'], 'silent'],
  'second.test': () => [['127.0.0.3', '127.0.0.1'], []], // no server listens at the first
  'alias.test': () => [
    ['alias one.test', 'alias two.test', '127.0.0.1'],
    ['alias one.test', 'alias two.test'],
  ],
  'rebinding.test': asked => [[asked === 1 ? publicly : '127.0.0.1'], []],
  'mixed.test': () => [[publicly, '127.0.0.1'], []],
  'mixed-last.test': () => [[...Array<string>(20).fill(publicly), '10.0.0.1'], []],
  'mixed-v6.test': () => [[publicly], ['::1']],
  'mixed-mapped.test': () => [[publicly], ['::ffff:127.0.0.1']],
  'private-v6.test': () => ['nxdomain', ['fd00::1']],
  'alias-private.test': () => [['alias public.test', '192.168.0.1'], []],
  'alias-local.test': () => [
    ['alias localhost', '127.0.0.1'],
    ['alias localhost', '::1'],
  ],
  'wrong-type.test': () => [[], ['127.0.0.1']], // an A record where AAAA was asked
  'public.test': () => [[publicly], []],
  'missing.test': () => ['nxdomain', 'nxdomain'],
  'empty.test': () => [[], []],
  'broken.test': () => ['servfail', 'servfail'],
  'silent.test': () => ['silent', 'silent'],
}
const names = await startNameServer((name, type, asked) => {
  const [a, aaaa] = zone[name]?.(asked) ?? ['nxdomain', 'nxdomain']
  return type === 'A' ? a : aaaa
})
// Sent from loopback, so that nothing leaves the machine: a public address cannot be reached from there.
const out = outbound({
  nameServers: [names.address],
  ports: [canary.port, receiver.port],
  sourceAddress: '127.0.0.1',
})

for (const name of [
  'mixed.test',
  'mixed-last.test',
  'mixed-v6.test',
  'mixed-mapped.test',
  'private-v6.test',
  'alias-private.test',
  'alias-local.test',
  'shop.test',
]) {
  test(`${name} is refused: one forbidden address refuses the name`, async () => {
    const answer = await out.send(request(`http://${name}:${canary.port}/`, { allowLoopback: false }))
    expect(answer).toMatchObject({ status: null, failure: 'forbidden_address', address: null })
    expect(answer.error).toMatch(/^[a-z0-9.-]+ leads to an? (private|loopback) address$/)
  })
}

test('a name that changes its answer is resolved once per connection, and checked each time', async () => {
  const asking = request(`http://rebinding.test:${canary.port}/`, { allowLoopback: false })
  expect(await out.send(asking)).toMatchObject({ status: null, failure: 'no_connection' }) // it was public then
  expect(names.asked.get('rebinding.test A')).toBe(1)
  expect(await out.send(asking)).toMatchObject({ status: null, failure: 'forbidden_address' })
  expect(names.asked.get('rebinding.test A')).toBe(2)
})

test('an address in the answer to the wrong query is not used', async () => {
  const answer = await out.send(request(`http://wrong-type.test:${canary.port}/`, { allowLoopback: false }))
  expect(answer.status).toBeNull()
})

test('a public name is allowed', async () => {
  const answer = await out.send(request('http://public.test/', { allowLoopback: false }))
  expect(answer).toMatchObject({ status: null, failure: 'no_connection' })
})

for (const [name, error] of [
  ['missing.test', 'missing.test does not exist'],
  ['empty.test', 'empty.test has no address'],
  ['broken.test', 'the name servers failed for broken.test (ESERVFAIL, ESERVFAIL)'],
] as const) {
  test(`${name}: ${error}`, async () => {
    const answer = await out.send(request(`http://${name}/`, { allowLoopback: false }))
    expect(answer).toMatchObject({ status: null, failure: 'name_not_found', error, first_byte_ms: null })
  })
}

test('name servers that do not answer are given up after two seconds', async () => {
  const answer = await out.send(request('http://silent.test/'))
  expect(answer).toMatchObject({
    failure: 'name_not_found',
    error: 'the name servers did not answer for silent.test',
  })
  expect(answer.ms).toBeLessThan(5000)
})

for (const name of [
  'shop.test',
  'SHOP.test.',
  'only-v4.test',
  'broken-v6.test',
  'half-silent.test',
  'second.test',
  'alias.test',
]) {
  test(`${name} is found`, async () => {
    const { status, error, address } = await out.send(request(`http://${name}:${receiver.port}/`))
    expect({ status, error, address }).toEqual({ status: 200, error: '', address: '127.0.0.1' })
  })
}

test('a reused connection needs no second lookup', async () => {
  const kept = await listen(answering(ok))
  const before = names.asked.get('shop.test A') ?? 0
  for (let i = 0; i < 5; i++)
    expect((await out.send(request(`http://shop.test:${kept.port}/`))).status).toBe(200)
  expect(names.asked.get('shop.test A')).toBe(before + 1)
  expect(kept.connections).toBe(1)
})

test('a connection that was opened with loopback allowed is not reused without', async () => {
  const kept = await listen(answering(ok))
  const own = outbound({ nameServers: [names.address], ports: [kept.port] })
  const url = `http://shop.test:${kept.port}/`
  expect((await own.send(request(url))).status).toBe(200)
  expect((await own.send(request(url, { allowLoopback: false }))).failure).toBe('forbidden_address')
})

test('a loopback name may have any port, a public one may not', async () => {
  const kept = await listen(answering(ok))
  expect((await out.send(request(`http://shop.test:${kept.port}/`))).status).toBe(200)
  expect((await out.send(request(`http://public.test:${kept.port}/`))).failure).toBe('forbidden_address')
})

test('no request reached the canary server', () => expect(canary.connections).toBe(0))
