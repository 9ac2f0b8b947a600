import { accentCss } from '../../../core/merchant/accent.ts'
import { digestOf } from '../../documents/digest.ts'
import { ourFile } from '../../documents/publicFile.ts'

// The address of a public file with what it holds: it may be kept for a year, and an upgrade is seen at once.
const addressOf = (name: string) =>
  `/public/${name}?v=${digestOf(ourFile(new URL(`../../public/${name}`, import.meta.url)))}`

export const assets = {
  css: addressOf('checkout.css'),
  script: addressOf('checkout.js'),
  icon: addressOf('icon.svg'),
}

// A file of its own, because no inline style is allowed on the page, and it loads beside that of the page. A version that
// draws it otherwise has another address.
export const accentAddress = (accent: string) =>
  `/public/accent/${accent.slice(1)}.css?v=${digestOf(Buffer.from(accentCss(accent)))}`
