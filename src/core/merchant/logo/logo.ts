import { hash } from 'node:crypto'
import type { LogoFacts } from '../branding.ts'
import { rewriteJpeg } from './jpeg.ts'
import type { SizeFault, Zip } from './picture.ts'
import { rewritePng } from './png.ts'

export const maxGivenBytes = 256 * 1024
const maxKeptBytes = 32 * 1024
const [least, most] = [32, 512] // dots, of either side

export type Logo = LogoFacts & { bytes: Buffer }

// A picture that somebody gave us, written anew from the parts that draw it: whatever else the file held is gone. Gives back
// the words that say why it is not taken. Never throws.
export function readLogo(given: Buffer, zip: Zip): Logo | string {
  if (given.length > maxGivenBytes) return `it has more than ${maxGivenBytes / 1024} kB`
  const kind = kindOf(given)
  if (kind !== 'png' && kind !== 'jpeg') return `it is ${kind}: save it as PNG or JPEG`
  const picture = kind === 'png' ? rewritePng(given, sizeFault, zip) : rewriteJpeg(given, sizeFault)
  if (typeof picture === 'string') return picture
  if (picture.bytes.length > maxKeptBytes)
    return (
      `it has ${Math.ceil(picture.bytes.length / 1024)} kB, and at most ${maxKeptBytes / 1024} kB are shown: ` +
      'make it smaller, such as 256x256, or with fewer colours'
    )
  return { ...picture, digest: hash('sha256', picture.bytes, 'hex').slice(0, 32) }
}

const sizeFault: SizeFault = (width, height) => {
  const fits = [width, height].every(side => side >= least && side <= most)
  return fits ? undefined : `it is ${width}x${height}: each side has ${least} to ${most} dots`
}

const textOf = (bytes: Buffer, from: number, to: number) => bytes.toString('latin1', from, to)

// By its own bytes, whatever it is called.
function kindOf(bytes: Buffer): string {
  if (textOf(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (textOf(bytes, 0, 3) === '\xff\xd8\xff') return 'jpeg'
  if (textOf(bytes, 0, 4) === 'GIF8') return 'a GIF'
  if (textOf(bytes, 0, 4) === 'RIFF' && textOf(bytes, 8, 12) === 'WEBP') return 'a WebP'
  if (textOf(bytes, 4, 8) === 'ftyp') return 'an AVIF or HEIC'
  if (/^(\xef\xbb\xbf)?\s*<(\?xml|!--|!doctype svg|svg)/i.test(textOf(bytes, 0, 200))) return 'an SVG'
  return 'no picture that we know'
}
