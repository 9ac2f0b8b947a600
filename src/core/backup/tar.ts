import { readBytes } from './byteReader.ts'
import { damaged } from './fault.ts'

// The part of the tar format (ustar) that a backup needs: plain files, each short enough for the memory. So `tar xzf` opens
// an unencrypted backup without Tollgate.
const blockBytes = 512
const maxFileBytes = 64 * 1024 * 1024

export type TarFile = { name: string; body: Buffer }

export function tarFile({ name, body }: TarFile, modifiedAt: Date): Buffer[] {
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0, 100)
  header.write(octal(0o600, 7), 100)
  header.write(octal(0, 7), 108) // owner
  header.write(octal(0, 7), 116) // group
  header.write(octal(body.length, 11), 124)
  header.write(octal(Math.floor(modifiedAt.getTime() / 1000), 11), 136)
  header.write(' '.repeat(8), 148) // the checksum counts as spaces
  header.write('0', 156) // a plain file
  header.write('ustar\u000000', 257)
  header.write(`${octal(checksum(header), 6)}\0 `, 148)
  return [header, body, Buffer.alloc(paddingOf(body.length))]
}

export const tarEnd = () => Buffer.alloc(2 * blockBytes)

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')

const paddingOf = (bytes: number) => (blockBytes - (bytes % blockBytes)) % blockBytes

const checksum = (header: Buffer) => header.reduce((sum, byte) => sum + byte, 0)

// Reads to the very end, so that the decompressor and the cipher behind it check their own ends too.
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const reader = readBytes(source)
  for (;;) {
    const header = await reader.take(blockBytes)
    if (isZero(header)) break
    const { name, size } = parseHeader(header)
    const body = await reader.take(size)
    yield { name, body }
    if (!isZero(await reader.take(paddingOf(size)))) throw damaged('a file in the archive ends wrongly')
  }
  if (!isZero(await reader.take(blockBytes))) throw damaged('the end of the archive is wrong')
  if (!(await reader.isAtEnd())) throw damaged('there is something behind the end of the archive')
}

const isZero = (bytes: Buffer) => bytes.every(byte => byte === 0)

function parseHeader(header: Buffer) {
  const text = (from: number, length: number) =>
    header.toString('latin1', from, from + length).replace(/[\0 ].*$/s, '')
  const stored = Number.parseInt(text(148, 8), 8)
  const size = Number.parseInt(text(124, 12), 8)
  const unsummed = Buffer.from(header)
  unsummed.write(' '.repeat(8), 148)
  if (stored !== checksum(unsummed)) throw damaged('a header of the archive is wrong')
  if (!(size <= maxFileBytes)) throw damaged('a file in the archive is too long')
  return { name: text(0, 100), size }
}
