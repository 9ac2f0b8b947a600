import { deflateSync, inflateSync } from 'node:zlib'
import { signature, writeChunk } from '../../src/core/png.ts'

// A screenshot as a PNG with a palette of 128 colours: a third of the size, and pages have few colours. Reads the PNGs of
// Chromium, which have 8 bits a channel and no interlacing.
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = readPng(png)
  const { palette, nearest } = paletteOf(pixels)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = nearest(pixels.readUIntBE((y * width + x) * 3, 3))
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.concat(
    palette.map(colour => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])),
  )
  const parts = [
    { type: 'IHDR', data: head },
    { type: 'PLTE', data: colours },
    { type: 'IDAT', data: deflateSync(rows, { level: 9, memLevel: 9 }) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]
  return Buffer.concat([signature, ...parts.map(writeChunk)])
}

const mostColours = 128

// The most frequent colours. Each other one becomes the nearest of them.
function paletteOf(pixels: Buffer) {
  const counts = new Map<number, number>()
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, mostColours)
    .map(([colour]) => colour)
  const found = new Map(palette.map((colour, at) => [colour, at]))
  function nearest(colour: number): number {
    const known = found.get(colour)
    if (known !== undefined) return known
    const at = palette.reduce(
      (best, one, now) => (gap(one, colour) < gap(palette[best] ?? 0, colour) ? now : best),
      0,
    )
    found.set(colour, at)
    return at
  }
  return { palette, nearest }
}

const gap = (a: number, b: number) =>
  ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2

function readPng(png: Buffer) {
  const width = png.readUInt32BE(16)
  const height = png.readUInt32BE(20)
  const channels = png[25] === 6 ? 4 : 3
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const rows = unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels)
  const pixels = Buffer.alloc(width * height * 3)
  for (let at = 0; at < width * height; at++) rows.copy(pixels, at * 3, at * channels, at * channels + 3)
  return { width, height, pixels }
}

// Each row begins with its filter, by which a byte is stored as its difference to its neighbours.
function unfilter(data: Buffer, stride: number, height: number, step: number): Buffer {
  const rows = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < step ? 0 : (rows[at - step] ?? 0)
      const above = y === 0 ? 0 : (rows[at - stride] ?? 0)
      const corner = x < step || y === 0 ? 0 : (rows[at - stride - step] ?? 0)
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter ?? 0] ?? 0
      rows[at] = ((data[y * (stride + 1) + 1 + x] ?? 0) + guess) & 255
    }
  }
  return rows
}

function paeth(left: number, above: number, corner: number): number {
  const sum = left + above - corner
  const [a, b, c] = [Math.abs(sum - left), Math.abs(sum - above), Math.abs(sum - corner)]
  return a <= b && a <= c ? left : b <= c ? above : corner
}
