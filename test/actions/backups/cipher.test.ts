import { beforeAll, expect, test } from 'vitest'
import { decrypt, encrypt } from '../../../src/actions/backups/cipher.ts'

const passphrase = 'correct horse battery staple'
const head = 28 + 16
const chunk = 64 * 1024 + 16
const plain = Buffer.alloc(200_000, 'row after row ') // three whole chunks and a part of one

async function* asStream(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
}
async function all(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks = []
  for await (const one of stream) chunks.push(one)
  return Buffer.concat(chunks)
}
const open = (bytes: Buffer, secret = passphrase) => all(decrypt(asStream(bytes), secret))

let sealed: Buffer
beforeAll(async () => void (sealed = await all(encrypt(asStream(plain), passphrase))))

test('what was sealed opens', async () => {
  expect((await open(sealed)).equals(plain)).toBe(true)
  expect(sealed.includes('row after row')).toBe(false)
})

const chunkAt = (number: number) => sealed.subarray(head + number * chunk, head + (number + 1) * chunk)
const start = () => sealed.subarray(0, head)

for (const [what, changed, why] of [
  ['cut between two chunks', () => sealed.subarray(0, head + 2 * chunk), /part was changed or is missing/],
  [
    'without a chunk',
    () => Buffer.concat([start(), chunkAt(0), chunkAt(2), chunkAt(3)]),
    /changed or is missing/,
  ],
  ['with two chunks swapped', () => Buffer.concat([start(), chunkAt(1), chunkAt(0)]), /passphrase is not/],
  ['with more behind its end', () => Buffer.concat([sealed, chunkAt(0)]), /changed or is missing/],
  [
    'with another salt',
    () => Buffer.concat([sealed.subarray(0, 28), Buffer.alloc(16), sealed.subarray(head)]),
    /passphrase is not/,
  ],
] as const)
  test(`a file ${what} does not open`, () => expect(open(changed())).rejects.toThrow(why))

test('another passphrase does not open it', () =>
  expect(open(sealed, 'another passphrase')).rejects.toThrow('The passphrase is not the one of this backup'))
