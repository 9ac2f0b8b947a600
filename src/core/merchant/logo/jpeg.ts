import { type Picture, sizeFault } from './picture.ts'

const damaged = 'this JPEG is damaged'
const maxScans = 64 // of a progressive picture; a browser decodes the whole picture for each
const nothing = Buffer.alloc(0)

type Segment = { marker: number; data: Buffer; pixels: Buffer } // pixels: the entropy-coded data after a scan header
type Frame = { width: number; height: number }

const [startOfFrame, progressive, huffman, quantisation, restart, startOfScan, end, adobe] = [
  0xc0, 0xc2, 0xc4, 0xdb, 0xdd, 0xda, 0xd9, 0xee,
] as const

// The segments that draw the picture. All others, such as the location and the camera, are left out.
const checks: Record<number, ((data: Buffer) => boolean) | undefined> = {
  [startOfFrame]: isFrame,
  [progressive]: isFrame,
  [huffman]: data => areTables(data, huffmanLength),
  [quantisation]: data => areTables(data, quantisationLength),
  [restart]: data => data.length === 2,
  [startOfScan]: data => data.length > 4 && data.length === 4 + 2 * (data[0] ?? 0),
}

// Writes only the segments that draw, up to the end of the picture.
export function rewriteJpeg(file: Buffer): Picture | string {
  const segments = readSegments(file)
  if (typeof segments === 'string') return segments
  if (segments.some(isAdobeRgb)) return unsupported
  const drawing = segments.filter(({ marker }) => checks[marker])
  const frame = frameOf(drawing)
  if (typeof frame === 'string') return frame
  const { width, height } = frame
  const wrongSize = sizeFault(width, height)
  if (wrongSize) return wrongSize
  const bytes = Buffer.concat([Buffer.from([0xff, 0xd8]), ...drawing.map(write), Buffer.from([0xff, end])])
  return { type: 'jpeg', bytes, width, height }
}

const unsupported = 'this JPEG has an unsupported format: save it as PNG'

// Metadata is not checked, because it is left out; every other segment must be valid.
function readSegments(file: Buffer): Segment[] | string {
  const segments: Segment[] = []
  for (let at = 2; at + 2 <= file.length; ) {
    if (file[at] !== 0xff) return damaged
    const marker = file[at + 1] ?? 0
    if (marker === end) return segments
    if (marker === 0xff) {
      at++ // padding
      continue
    }
    if (at + 4 > file.length) return damaged
    const next = at + 2 + file.readUInt16BE(at + 2)
    const data = file.subarray(at + 4, next)
    if (next > file.length || next < at + 4) return damaged
    if (!checks[marker]?.(data) && !isMetadata(marker)) return isFrameMarker(marker) ? unsupported : damaged
    const pixels = marker === startOfScan ? pixelsFrom(file, next) : nothing
    segments.push({ marker, data, pixels })
    at = next + pixels.length
  }
  return damaged
}

// Of any JPEG process; two are supported.
const isFrameMarker = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![huffman, 0xc8, 0xcc].includes(marker)

const isMetadata = (marker: number) => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe

// Up to the next marker that does not belong to the pixel data.
function pixelsFrom(file: Buffer, from: number): Buffer {
  let at = file.indexOf(0xff, from)
  while (at >= 0 && isPixelMarker(file[at + 1] ?? -1)) at = file.indexOf(0xff, at + 2)
  return file.subarray(from, at < 0 ? file.length : at)
}

const isPixelMarker = (next: number) => next === 0 || (next >= 0xd0 && next <= 0xd7)

// One frame, followed by at most `maxScans` scans.
function frameOf(segments: readonly Segment[]): Frame | string {
  const order = segments.map(({ marker }) => marker)
  const frames = segments.filter(({ marker }) => marker === startOfFrame || marker === progressive)
  const scans = order.filter(marker => marker === startOfScan).length
  const [frame] = frames
  if (!frame || frames.length > 1 || scans === 0 || scans > maxScans) return damaged
  if (order.indexOf(frame.marker) > order.indexOf(startOfScan)) return damaged
  return { height: frame.data.readUInt16BE(1), width: frame.data.readUInt16BE(3) }
}

// Eight bits, grey or three colours. Four colours are for print, and browsers show them differently.
function isFrame(data: Buffer): boolean {
  const count = data[5] ?? 0
  return data[0] === 8 && (count === 1 || count === 3) && data.length === 6 + 3 * count
}

// RGB, which only the Adobe segment declares, and that one is left out.
const isAdobeRgb = ({ marker, data }: Segment) =>
  marker === adobe && data.toString('latin1', 0, 5) === 'Adobe' && data[11] === 0

// The tables fill their segment exactly.
function areTables(data: Buffer, lengthAt: (data: Buffer, at: number) => number): boolean {
  let at = 0
  while (at < data.length) at += lengthAt(data, at)
  return at === data.length && at > 0
}

const quantisationLength = (data: Buffer, at: number) => 1 + 64 * ((data[at] ?? 0) >> 4 === 0 ? 1 : 2)

const huffmanLength = (data: Buffer, at: number) =>
  17 + data.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)

function write({ marker, data, pixels }: Segment): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data, pixels])
}
