import fc from 'fast-check'
import { expect, test } from 'vitest'
import { whyNeverCalled } from '../../src/core/addressRules.ts'
import { guardedAddresses } from '../../src/net/addressGuard.ts'
import { createEndpointCache } from '../../src/net/endpoint.ts'

// What the guard does with an address that needs no DNS lookup.
async function guardRefuses(url: string, allowLoopback: boolean, ports: readonly number[]) {
  const endpoint = createEndpointCache(ports).read(url, allowLoopback)
  if (typeof endpoint === 'string' || !endpoint.guard) return true
  return guardedAddresses({ ...endpoint, guard: endpoint.guard }).then(
    () => false,
    () => true,
  )
}

const hosts = fc.oneof(
  fc.ipV4(),
  fc.ipV6().map(address => `[${address}]`),
  fc.constantFrom(
    'localhost',
    'a.localhost',
    '10.0.0.1',
    '127.1',
    '0x7f000001',
    '[::1]',
    '[::ffff:10.0.0.1]',
  ),
  fc.constantFrom(
    '169.254.169.254',
    '100.64.0.1',
    '168.63.129.16',
    '8.8.8.8',
    '[2606:4700::1111]',
    '0',
    '017700000001',
  ),
)
const ports = fc.constantFrom('', ':80', ':443', ':8443', ':22', ':3000', ':9000')

test('an address is reported as never called exactly if the guard refuses it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('http', 'https'),
      hosts,
      ports,
      fc.boolean(),
      async (scheme, host, port, allowLoopback) => {
        const url = `${scheme}://${host}${port}/ipn`
        const refused = await guardRefuses(url, allowLoopback, [9000])
        expect(whyNeverCalled(url, { allowLoopback, ports: [9000] }) !== undefined, url).toBe(refused)
      },
    ),
    { numRuns: 500 },
  )
})

for (const [url, why] of [
  ['https://shop.example/ipn', undefined],
  ['https://shop.example:3000/ipn', 'port 3000 is not open; 80, 443, 8443 are'],
  ['https://192.168.0.4/ipn', '192.168.0.4 is a private address'],
  ['http://localhost/ipn', 'localhost is a loopback address'],
  ['ftp://shop.example/ipn', 'only http and https addresses are served'],
  ['https://a:b@shop.example/ipn', 'a user name or password in the address is not allowed'],
] as const)
  test(`${url}: ${why ?? 'may be called'}`, () => {
    expect(whyNeverCalled(url, { allowLoopback: false, ports: [] })).toBe(why)
  })
