import { readdirSync, readFileSync } from 'node:fs'
import type { Document } from './documents.ts'

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

const shared = ['tokens.css', 'base.css'].map(name => new URL(`../../core/markup/${name}`, import.meta.url))

// The stylesheet of a family of pages, after the tokens and rules that all families share.
export const readStyles = (file: URL): string =>
  [...shared, file].map(part => readFileSync(part, 'utf8')).join('\n')

// A file of the checkout, minified if it is a stylesheet.
export const readPublicFile = (file: URL): Buffer =>
  file.pathname.endsWith('.css') ? Buffer.from(minifyCss(readStyles(file))) : readFileSync(file)

// The files of one folder, by the path at which each is served. They are all read at start: no other file can be
// served, and a gateway that has dropped its root privileges may not be able to read them later.
export const publicFiles = (
  under: string,
  folder: URL,
  names: readonly string[] = readdirSync(folder),
  more: Partial<Document> = {},
): [path: string, Document][] =>
  names.map(name => {
    const bytes = (more.isPartOfCheckout ? readPublicFile : readFileSync)(new URL(name, folder))
    return [
      `${under}/${name}`,
      {
        route: `${under}/:file`,
        type: types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        isFile: true,
        make: () => bytes,
        ...more,
      },
    ]
  })

// Removes comments and spaces, which is a seventh of the bytes. It does not parse CSS, so it must not meet a quoted
// text with a comment, or with a colon before a space.
export const minifyCss = (css: string) =>
  css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .trim()
