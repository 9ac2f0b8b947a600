import { deflateSync } from 'node:zlib'
import { encode } from 'uqr'
import { signature, writeChunk } from '../../core/png.ts'

const maskPattern = 3 // every scanner reads any of the eight; to compare them all takes ten times as long
const maxText = 1000 // a phone cannot read a denser code from a screen
const svgBorder = 2 // modules
const pngBorder = 4 // the quiet zone of the standard: a gallery may show anything around the picture
const pngScale = 8 // pixels per module: sharp on any phone, and still a few hundred bytes

type Modules = { rows: readonly (readonly boolean[])[]; size: number } // true is dark

// Undefined if the text is empty or too long.
function modulesOf(text: string, border: number): Modules | undefined {
  if (text === '' || text.length > maxText) return undefined
  const { data, size } = encode(text, { border, maskPattern })
  return { rows: data, size }
}

// A QR code as SVG: one path, in which each run of dark modules is a stroke. It is black on white in the dark scheme
// too, because scanners do not find an inverted code.
export const Qr = ({ text, title }: { text: string; title: string }) => {
  const modules = modulesOf(text, svgBorder)
  if (!modules) return null
  const { rows, size } = modules
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      shape-rendering="crispEdges"
    >
      <title>{title}</title>
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path stroke="#000" d={strokes(rows)} />
    </svg>
  )
}

function strokes(rows: Modules['rows']): string {
  let path = ''
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const from = x
      while (row[x + 1]) x++
      path += `M${from} ${y}.5h${x + 1 - from}`
    }
  })
  return path
}

// A QR code as a PNG with one bit per pixel; undefined if the text is empty or too long.
export function qrPng(text: string): Uint8Array<ArrayBuffer> | undefined {
  const modules = modulesOf(text, pngBorder)
  if (!modules) return undefined
  const side = modules.size * pngScale
  const rows = modules.rows.flatMap(row => Array.from({ length: pngScale }, () => pixelRow(row, side)))
  return new Uint8Array(
    Buffer.concat([
      signature,
      writeChunk({ type: 'IHDR', data: imageHeader(side) }),
      writeChunk({ type: 'IDAT', data: deflateSync(Buffer.concat(rows)) }),
      writeChunk({ type: 'IEND', data: Buffer.alloc(0) }),
    ]),
  )
}

// Width, height and a bit depth of 1. The other bytes are zero: greyscale, default compression, no interlacing.
function imageHeader(side: number): Buffer {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32BE(side, 0)
  bytes.writeUInt32BE(side, 4)
  bytes[8] = 1
  return bytes
}

// Filter type 0, then eight pixels per byte, the leftmost in the highest bit. A light pixel is 1.
function pixelRow(modules: readonly boolean[], side: number): Buffer {
  const bytes = Buffer.alloc(1 + Math.ceil(side / 8))
  for (let x = 0; x < side; x++)
    if (!modules[Math.floor(x / pngScale)])
      bytes[1 + (x >> 3)] = (bytes[1 + (x >> 3)] ?? 0) | (128 >> (x & 7))
  return bytes
}
