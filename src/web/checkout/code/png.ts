import { deflateSync } from 'node:zlib'
import { signature, writeChunk } from '../../../core/png.ts'
import { squaresOf } from './squares.ts'

const border = 4 // the quiet zone that the standard asks for: in a gallery anything may lie around it
const scale = 8 // pixels of one square: sharp on any phone, a few hundred bytes all the same

// A code to scan as a PNG of black and white, one bit for each pixel; undefined for what makes no code.
export function pngOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  const squares = squaresOf(text, border)
  if (!squares) return undefined
  const side = squares.size * scale
  const rows = squares.rows.flatMap(row => Array.from({ length: scale }, () => rowOf(row, side)))
  return new Uint8Array(
    Buffer.concat([
      signature,
      writeChunk({ type: 'IHDR', data: head(side) }),
      writeChunk({ type: 'IDAT', data: deflateSync(Buffer.concat(rows)) }),
      writeChunk({ type: 'IEND', data: Buffer.alloc(0) }),
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
