import { readFileSync } from 'node:fs'
import { digestOf } from '../../documents/digest.ts'

// The address of a public file with what it holds: it may be kept for a year, and an upgrade is seen at once.
const addressOf = (name: string) =>
  `/public/${name}?v=${digestOf(readFileSync(new URL(`../../public/${name}`, import.meta.url)))}`

export const assets = {
  css: addressOf('checkout.css'),
  script: addressOf('checkout.js'),
  icon: addressOf('icon.svg'),
}
