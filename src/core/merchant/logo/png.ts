import { type Chunk, crc32, signature, writeChunk } from '../../png.ts'
import { type Picture, sizeFault, type Zip } from './picture.ts'

const damaged = 'this PNG is damaged'

type Header = { width: number; height: number; depth: number; colour: number }

// The channels of each colour type, and the bit depths that it allows.
const kinds: Record<number, { channels: number; depths: readonly number[] } | undefined> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] }, // grey
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] }, // by a palette
  4: { channels: 2, depths: [8, 16] }, // grey, with transparency
  6: { channels: 4, depths: [8, 16] }, // with transparency
}

// Writes only the chunks that draw: the header, the palette, its transparency, and the pixels, which are decompressed
// completely and compressed again.
export function rewritePng(file: Buffer, zip: Zip): Picture | string {
  const chunks = readChunks(file)
  if (!chunks) return damaged
  const header = readHeader(chunks[0])
  if (typeof header === 'string') return header
  const { width, height } = header
  const wrongSize = sizeFault(width, height)
  if (wrongSize) return wrongSize
  const colours = coloursOf(chunks, header)
  const pixels = colours && pixelsOf(chunks, header, zip)
  if (!colours || !pixels) return damaged
  const packed = { type: 'IDAT', data: zip.pack(pixels) }
  const written = [chunks[0] as Chunk, ...colours, packed, { type: 'IEND', data: Buffer.alloc(0) }]
  return { type: 'png', bytes: Buffer.concat([signature, ...written.map(writeChunk)]), width, height }
}

// The known chunks up to the end chunk. Undefined if a chunk is damaged, or if a critical chunk is unknown.
function readChunks(file: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = []
  for (let at = signature.length; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at)
    const end = at + 8 + length
    if (end + 4 > file.length) return undefined
    const type = file.toString('latin1', at + 4, at + 8)
    if (file.readUInt32BE(end) !== crc32(file.subarray(at + 4, end))) return undefined
    if (type === 'IEND') return chunks
    if (isCritical(type) && !known.includes(type)) return undefined
    if (known.includes(type)) chunks.push({ type, data: file.subarray(at + 8, end) })
    at = end + 4
  }
  return undefined
}

const known = ['IHDR', 'PLTE', 'tRNS', 'IDAT']
const isCritical = (type: string) => /^[A-Z]/.test(type)

function readHeader(chunk: Chunk | undefined): Header | string {
  if (chunk?.type !== 'IHDR' || chunk.data.length !== 13) return damaged
  const [depth = 0, colour = 0, packing, filter, interlace] = chunk.data.subarray(8)
  if (!kinds[colour]?.depths.includes(depth) || packing !== 0 || filter !== 0) return damaged
  if (interlace !== 0) return 'this PNG is interlaced: save it without'
  return { width: chunk.data.readUInt32BE(0), height: chunk.data.readUInt32BE(4), depth, colour }
}

// The palette and the transparency, if the chunks are in the standard order. A palette that the colour type does not need is
// left out.
function coloursOf(chunks: readonly Chunk[], { colour }: Header): Chunk[] | undefined {
  const order = chunks.map(({ type }) => type).join(' ')
  if (!/^IHDR( PLTE)?( tRNS)?( IDAT)+$/.test(order)) return undefined
  const palette = chunks.find(({ type }) => type === 'PLTE')
  const transparent = chunks.find(({ type }) => type === 'tRNS')
  if (colour === 3) {
    const count = (palette?.data.length ?? 0) / 3
    if (!palette || !Number.isInteger(count) || count < 1 || count > 256) return undefined
    if (transparent && transparent.data.length > count) return undefined
    return transparent ? [palette, transparent] : [palette]
  }
  if (!transparent) return []
  const length = { 0: 2, 2: 6 }[colour]
  return transparent.data.length === length ? [transparent] : undefined
}

// The rows of pixels, each with its filter number. Exactly as many bytes as the header requires are decompressed.
function pixelsOf(chunks: readonly Chunk[], header: Header, zip: Zip): Buffer | undefined {
  const { width, height, depth, colour } = header
  const line = 1 + Math.ceil((width * depth * (kinds[colour]?.channels ?? 0)) / 8)
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)
  const pixels = zip.unpack(Buffer.concat(packed), line * height)
  if (pixels?.length !== line * height) return undefined
  for (let at = 0; at < pixels.length; at += line) if ((pixels[at] ?? 0) > 4) return undefined
  return pixels
}
