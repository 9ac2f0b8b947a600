import type { Picture, SizeFault } from './picture.ts'

const damaged = 'this JPEG is damaged'
const maxScans = 64 // of a picture that comes in layers; each costs a browser another look at all of it
const nothing = Buffer.alloc(0)

type Segment = { marker: number; data: Buffer; dots: Buffer } // dots: what follows the head of a scan
type Frame = { width: number; height: number }

const [startOfFrame, progressive, huffman, quantisation, restart, startOfScan, end, adobe] = [
  0xc0, 0xc2, 0xc4, 0xdb, 0xdd, 0xda, 0xd9, 0xee,
] as const

// What draws. Everything else, such as where and with which camera it was taken, is left out.
const checks: Record<number, ((data: Buffer) => boolean) | undefined> = {
  [startOfFrame]: isFrame,
  [progressive]: isFrame,
  [huffman]: data => areTables(data, huffmanLength),
  [quantisation]: data => areTables(data, quantisationLength),
  [restart]: data => data.length === 2,
  [startOfScan]: data => data.length > 4 && data.length === 4 + 2 * (data[0] ?? 0),
}

// Only the segments that draw are kept, up to the end of the picture.
export function rewriteJpeg(given: Buffer, sizeFault: SizeFault): Picture | string {
  const segments = readSegments(given)
  if (typeof segments === 'string') return segments
  if (segments.some(isOddlyColoured)) return odd
  const kept = segments.filter(({ marker }) => checks[marker])
  const frame = frameOf(kept)
  if (typeof frame === 'string') return frame
  const { width, height } = frame
  const wrongSize = sizeFault(width, height)
  if (wrongSize) return wrongSize
  const bytes = Buffer.concat([Buffer.from([0xff, 0xd8]), ...kept.map(write), Buffer.from([0xff, end])])
  return { type: 'jpeg', bytes, width, height }
}

const odd = 'this JPEG is of an unusual kind: save it as PNG'

// What only tells is passed over; what must be understood has to be what it says.
function readSegments(given: Buffer): Segment[] | string {
  const segments: Segment[] = []
  for (let at = 2; at + 2 <= given.length; ) {
    if (given[at] !== 0xff) return damaged
    const marker = given[at + 1] ?? 0
    if (marker === end) return segments
    if (marker === 0xff) {
      at++ // filling
      continue
    }
    if (at + 4 > given.length) return damaged
    const next = at + 2 + given.readUInt16BE(at + 2)
    const data = given.subarray(at + 4, next)
    if (next > given.length || next < at + 4) return damaged
    if (!checks[marker]?.(data) && !tells(marker)) return isFrameMarker(marker) ? odd : damaged
    const dots = marker === startOfScan ? dotsFrom(given, next) : nothing
    segments.push({ marker, data, dots })
    at = next + dots.length
  }
  return damaged
}

// Of any kind; we know two.
const isFrameMarker = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![huffman, 0xc8, 0xcc].includes(marker)

const tells = (marker: number) => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe

// Up to the next marker that is no part of the dots.
function dotsFrom(given: Buffer, from: number): Buffer {
  let at = given.indexOf(0xff, from)
  while (at >= 0 && isPartOfDots(given[at + 1] ?? -1)) at = given.indexOf(0xff, at + 2)
  return given.subarray(from, at < 0 ? given.length : at)
}

const isPartOfDots = (next: number) => next === 0 || (next >= 0xd0 && next <= 0xd7)

// One frame, then scans, so many at most.
function frameOf(kept: readonly Segment[]): Frame | string {
  const order = kept.map(({ marker }) => marker)
  const frames = kept.filter(({ marker }) => marker === startOfFrame || marker === progressive)
  const scans = order.filter(marker => marker === startOfScan).length
  const [frame] = frames
  if (!frame || frames.length > 1 || scans === 0 || scans > maxScans) return damaged
  if (order.indexOf(frame.marker) > order.indexOf(startOfScan)) return damaged
  return { height: frame.data.readUInt16BE(1), width: frame.data.readUInt16BE(3) }
}

// Eight bits, in grey or in three colours. Four are for print, and no browser agrees with another about them.
function isFrame(data: Buffer): boolean {
  const count = data[5] ?? 0
  return data[0] === 8 && (count === 1 || count === 3) && data.length === 6 + 3 * count
}

// Colours that are told by a segment that we leave out.
const isOddlyColoured = ({ marker, data }: Segment) =>
  marker === adobe && data.toString('latin1', 0, 5) === 'Adobe' && data[11] === 0

// Tables stand one behind the other and fill their segment.
function areTables(data: Buffer, lengthAt: (data: Buffer, at: number) => number): boolean {
  let at = 0
  while (at < data.length) at += lengthAt(data, at)
  return at === data.length && at > 0
}

const quantisationLength = (data: Buffer, at: number) => 1 + 64 * ((data[at] ?? 0) >> 4 === 0 ? 1 : 2)

const huffmanLength = (data: Buffer, at: number) =>
  17 + data.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)

function write({ marker, data, dots }: Segment): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data, dots])
}
