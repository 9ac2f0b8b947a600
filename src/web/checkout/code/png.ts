import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

const border = 4 // the quiet zone that the standard asks for: in a gallery anything may lie around it
const scale = 8 // pixels of one square: sharp on any phone, a few hundred bytes all the same
const maskPattern = 3 // as on the page, and so is the longest text
const maxText = 1000

// A code to scan as a PNG of black and white, one bit for each pixel; undefined for what makes no code.
export function pngOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text === '' || text.length > maxText) return undefined
  const { data, size } = encode(text, { border, maskPattern })
  const side = size * scale
  const rows = data.flatMap(row => Array.from({ length: scale }, () => rowOf(row, side)))
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', head(side)),
      chunk('IDAT', deflateSync(Buffer.concat(rows))),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  )
}

// Width, height, one bit a pixel, shades of grey; the rest is as usual.
function head(side: number): Buffer {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32BE(side, 0)
  bytes.writeUInt32BE(side, 4)
  bytes[8] = 1
  return bytes
}

// No filter, then eight pixels a byte, from the left; a light one is 1.
function rowOf(squares: readonly boolean[], side: number): Buffer {
  const bytes = Buffer.alloc(1 + Math.ceil(side / 8))
  for (let x = 0; x < side; x++)
    if (!squares[Math.floor(x / scale)]) bytes[1 + (x >> 3)] = (bytes[1 + (x >> 3)] ?? 0) | (128 >> (x & 7))
  return bytes
}

// Its length, its name, what it holds, and a sum over the last two.
function chunk(name: string, holds: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), holds])
  const bytes = Buffer.alloc(named.length + 8)
  bytes.writeUInt32BE(holds.length, 0)
  named.copy(bytes, 4)
  bytes.writeUInt32BE(crc32(named), named.length + 4)
  return bytes
}
