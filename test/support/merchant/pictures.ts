import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

// Builds images part by part, so that a test can damage any part.
type Part = Buffer | string

const bytesOf = (part: Part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)

export function chunk(type: string, data: Part = ''): Buffer {
  const named = Buffer.concat([bytesOf(type), bytesOf(data)])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(named.length - 4, 0)
  numbers.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([numbers.subarray(0, 4), named, numbers.subarray(4)])
}

export const pngHead = bytesOf('\x89PNG\r\n\x1a\n')

export function header(width: number, height: number, depth = 8, colour = 2, rest = [0, 0, 0]): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  data.set([depth, colour, ...rest], 8)
  return chunk('IHDR', data)
}

export const png = (...chunks: Buffer[]) => Buffer.concat([pngHead, ...chunks])

// Pixels of one colour (red, green, blue).
export function dots(width: number, height: number, colour = [11, 107, 79]): Buffer {
  const line = Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()])
  return Buffer.concat(Array.from({ length: height }, () => line))
}

export const plainPng = (width = 64, height = width, ...more: Buffer[]) =>
  png(header(width, height), ...more, chunk('IDAT', deflateSync(dots(width, height))), chunk('IEND'))

// An image of about this many bytes that cannot be compressed.
export function speckledPng(bytes: number): Buffer {
  const side = Math.floor(Math.sqrt((bytes - 100) / 3))
  const line = () => Buffer.concat([Buffer.from([0]), randomBytes(side * 3)])
  const all = Buffer.concat(Array.from({ length: side }, line))
  return png(header(side, side), chunk('IDAT', deflateSync(all)), chunk('IEND'))
}

export function segment(marker: number, data: Part = ''): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytesOf(data).length + 2, 2)
  return Buffer.concat([head, bytesOf(data)])
}

export const startOfImage = Buffer.from([0xff, 0xd8])
export const endOfImage = Buffer.from([0xff, 0xd9])

export function frame(width: number, height: number, components = 3, marker = 0xc0): Buffer {
  const each = Array.from({ length: components }, (_, at) => [at + 1, 0x11, 0])
  const data = Buffer.from([8, 0, 0, 0, 0, components, ...each.flat()])
  data.writeUInt16BE(height, 1)
  data.writeUInt16BE(width, 3)
  return segment(marker, data)
}

export const quantisation = segment(0xdb, Buffer.alloc(65, 1).fill(0, 0, 1))
export const huffman = segment(0xc4, Buffer.from([0, 0, 1, ...Array(14).fill(0), 5]))
export const scan = (dotsOfIt: Part = '\x12\xff\x00\x34\xff\xd0\x56') =>
  Buffer.concat([segment(0xda, Buffer.from([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])), bytesOf(dotsOfIt)])

export const jpeg = (...parts: Buffer[]) => Buffer.concat([startOfImage, ...parts, endOfImage])

export const plainJpeg = (...more: Buffer[]) => jpeg(...more, quantisation, frame(64, 48), huffman, scan())
