import { hash } from 'node:crypto'
import type { LogoFacts } from '../branding.ts'
import { rewriteJpeg } from './jpeg.ts'
import type { Zip } from './picture.ts'
import { rewritePng } from './png.ts'

export const maxLogoFileBytes = 256 * 1024
const maxLogoBytes = 32 * 1024

export type Logo = LogoFacts & { bytes: Buffer }

// Writes an untrusted picture again from the parts that draw it, without any other content of the file. Returns the reason
// if it is refused. Never throws.
export function readLogo(file: Buffer, zip: Zip): Logo | string {
  if (file.length > maxLogoFileBytes) return `it has more than ${maxLogoFileBytes / 1024} kB`
  const kind = kindOf(file)
  if (kind !== 'png' && kind !== 'jpeg') return `it is ${kind}: save it as PNG or JPEG`
  const picture = kind === 'png' ? rewritePng(file, zip) : rewriteJpeg(file)
  if (typeof picture === 'string') return picture
  if (picture.bytes.length > maxLogoBytes)
    return (
      `it has ${Math.ceil(picture.bytes.length / 1024)} kB, and at most ${maxLogoBytes / 1024} kB are allowed: ` +
      'make it smaller, such as 256x256, or with fewer colours'
    )
  return { ...picture, digest: hash('sha256', picture.bytes, 'hex').slice(0, 32) }
}

const textOf = (bytes: Buffer, from: number, to: number) => bytes.toString('latin1', from, to)

// By its content, not by its file name.
function kindOf(bytes: Buffer): string {
  if (textOf(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (textOf(bytes, 0, 3) === '\xff\xd8\xff') return 'jpeg'
  if (textOf(bytes, 0, 4) === 'GIF8') return 'a GIF'
  if (textOf(bytes, 0, 4) === 'RIFF' && textOf(bytes, 8, 12) === 'WEBP') return 'a WebP'
  if (textOf(bytes, 4, 8) === 'ftyp') return 'an AVIF or HEIC'
  if (/^(\xef\xbb\xbf)?\s*<(\?xml|!--|!doctype svg|svg)/i.test(textOf(bytes, 0, 200))) return 'an SVG'
  return 'not a known picture format'
}
